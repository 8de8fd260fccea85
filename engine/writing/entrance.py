"""Where texts come in: checked once, and rid of keys and passwords before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.context import EngineContext
from engine.domain import fields as authored_fields
from engine.domain.errors import InvalidInput
from engine.domain.memory import FieldValue
from engine.domain.notices import Notice
from engine.secrets.fields import masked_fields
from engine.secrets.masking import Masked, counted, masked
from engine.writing.layers import require_length
from engine.writing.own_blocks import is_own_block

OFF, WARN, REJECT = "off", "warn", "reject"


@dataclass(frozen=True, slots=True)
class Entered:
    """Authored fields that may be written; ``notices`` say which secrets were in them."""

    fields: dict[str, FieldValue]
    notices: tuple[Notice, ...] = ()


def entered(context: EngineContext, raw: Mapping[str, object]) -> Entered:
    """The fields checked (:func:`engine.domain.fields.validated`), of a length that can be
    stored, and as ``secrets.policy`` wants them.

    Raises :class:`InvalidInput` for a bad field, and by policy for a secret.
    """
    fields = authored_fields.validated(raw)
    require_length(context, fields.get("text"))
    policy = context.settings.secrets.policy
    if policy == OFF:
        return Entered(fields)
    plain = masked_fields(fields)
    if not plain.kinds:
        return Entered(fields)
    if policy == REJECT:
        names = ", ".join(plain.kinds_by_field)
        raise InvalidInput("error.secret_refused", count=len(plain.kinds), fields=names)
    kept = fields if policy == WARN else dict(plain.fields)
    return Entered(kept, notices_of(plain.kinds, masking=policy != WARN))


def entered_object(
    context: EngineContext, predicate: str, value: str
) -> tuple[str, tuple[Notice, ...]]:
    """What a fact says of something, as ``secrets.policy`` wants it: its predicate may name a
    secret. Raises :class:`InvalidInput` by policy."""
    policy = context.settings.secrets.policy
    lead = f"{predicate}: "
    plain = masked(lead + value) if policy != OFF else Masked(lead + value)
    if plain.kinds and policy == REJECT:
        raise InvalidInput("error.secret_refused", count=len(plain.kinds), fields="object")
    notices = notices_of(plain.kinds, masking=policy != WARN)
    return (value if policy == WARN else plain.text.removeprefix(lead)), notices


def refuse_own_block(text: object) -> None:
    """Refuse what this product itself has put before an assistant, handed back as new."""
    if isinstance(text, str) and is_own_block(text):
        raise InvalidInput("error.own_recall_block")


def notices_of(kinds: tuple[str, ...], *, masking: bool) -> tuple[Notice, ...]:
    """A sentence for each kind of secret: that it was masked, or that it was only seen."""
    told = "masked" if masking else "seen"
    return tuple(
        Notice(f"secrets.{told}.{kind}", count=count) for kind, count in counted(kinds).items()
    )
