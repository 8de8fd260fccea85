"""Groups of options as dataclasses: declared once, shared by commands, typed inside them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import get_type_hints


def expanded(command: Callable[..., int]) -> Callable[..., int]:
    """A command whose dataclass parameters have become one option for each of their fields.

    Fields are declared like the parameters of a typer command
    (``name: Annotated[type, typer.Option(...)] = default``).
    """
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    groups = {name: hints[name] for name in signature.parameters if _is_group(hints[name])}
    parameters = [
        part
        for parameter in signature.parameters.values()
        for part in _parts(parameter, hints[parameter.name])
    ]

    @wraps(command)
    def run(**given: object) -> int:
        gathered = {name: _gathered(group, given) for name, group in groups.items()}
        return command(**given, **gathered)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    return run


def _is_group(hint: object) -> bool:
    return isinstance(hint, type) and dataclasses.is_dataclass(hint)


def _parts(parameter: inspect.Parameter, hint: type) -> Iterator[inspect.Parameter]:
    keyword = inspect.Parameter.KEYWORD_ONLY
    if not _is_group(hint):
        yield parameter.replace(annotation=hint, kind=keyword)
        return
    hints = get_type_hints(hint, include_extras=True)
    for field in dataclasses.fields(hint):
        default = field.default
        if default is dataclasses.MISSING:
            default = inspect.Parameter.empty
        yield inspect.Parameter(field.name, keyword, default=default, annotation=hints[field.name])


def _gathered(group: type, given: dict[str, object]) -> object:
    names = [field.name for field in dataclasses.fields(group)]
    return group(**{name: given.pop(name) for name in names})
