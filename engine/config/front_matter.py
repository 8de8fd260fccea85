"""YAML front matter of Markdown notes, as any tool may have written it."""

from __future__ import annotations

from collections.abc import Mapping

from engine.domain.errors import InvalidInput


def read_front_matter(text: str) -> Mapping[str, object]:
    """The properties of a note. Raises :class:`InvalidInput` for what is no YAML mapping."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        problem = getattr(error, "problem", None) or "YAML"
        raise InvalidInput("error.import_front_matter", reason=str(problem)[:80]) from error
    except (ValueError, TypeError, RecursionError) as error:
        # Impossible dates, unhashable keys, bottomless nesting.
        raise InvalidInput("error.import_front_matter", reason=str(error)[:80]) from error
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise InvalidInput("error.import_front_matter", reason="YAML")
    return {str(name): value for name, value in found.items()}
