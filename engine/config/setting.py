"""What is known about one setting, read from its declaration."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Acts = Literal["now", "next_write", "rebuild", "restart"]
"""When a changed value takes effect."""

MASK = "••••••••"


@dataclass(frozen=True, slots=True)
class Knob:
    """The part of a declaration that is ours: when it acts, slider step, secrecy, names.

    ``example`` stands for what is accepted where neither a range nor a choice can be shown.
    """

    acts: Acts
    step: float | None = None
    secret: bool = False
    example: str = ""
    choices: Callable[[], tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    ``kind`` is ``switch``, ``whole``, ``number``, ``text``, ``choice`` or ``list``. ``low`` and
    ``high`` are inclusive. ``group`` is the section ("" at the top level).
    """

    key: str
    kind: str
    default: object
    acts: Acts
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()
    nullable: bool = False
    secret: bool = False
    example: str = ""

    @property
    def group(self) -> str:
        """The section the setting stands in."""
        return self.key.rpartition(".")[0]

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "JIYI_" + self.key.upper().replace(".", "__")

    @property
    def allowed(self) -> str:
        """What it accepts, in a form that needs no translation: ``1-100``, ``auto, zh, en``."""
        if self.kind == "switch":
            return "true, false"
        if self.choices:
            return ", ".join(self.choices)
        if self.low is None or self.high is None:
            return self.example
        span = f"{plain(self.low)}-{plain(self.high)}"
        return f"{span}, null" if self.nullable else span

    def shown(self, value: object) -> str:
        """``value`` as text for people; a secret is masked."""
        if self.secret and value not in (None, ""):
            return MASK
        return plain(value)

    def read(self, settings: BaseModel) -> object:
        """Its value in ``settings``."""
        value: object = settings
        for name in self.key.split("."):
            value = getattr(value, name)
        return value


def plain(value: object) -> str:
    """A setting's value as it may be typed: ``true``, ``0.5``, ``core, manage``, ``null``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (tuple, list)):
        return ", ".join(map(plain, value))
    return str(value)


def declarations(model: type[BaseModel], prefix: str = "") -> Iterator[Setting]:
    """The settings of a model and of its sections, in order."""
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            yield from declarations(section, f"{prefix}{name}.")
        else:
            yield _declaration(f"{prefix}{name}", field)


def _declaration(key: str, field: FieldInfo) -> Setting:
    knob = next(item for item in field.metadata if isinstance(item, Knob))
    bare, nullable = _without_none(field.annotation)
    choices = knob.choices() if knob.choices else _literals(bare)
    return Setting(
        key=key,
        kind="choice" if choices else _kind(bare),
        default=field.default,
        acts=knob.acts,
        low=next((item.ge for item in field.metadata if hasattr(item, "ge")), None),
        high=next((item.le for item in field.metadata if hasattr(item, "le")), None),
        step=knob.step,
        choices=choices,
        nullable=nullable,
        secret=knob.secret,
        example=knob.example,
    )


def _without_none(annotation: object) -> tuple[object, bool]:
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        return members[0], len(members) < len(get_args(annotation))
    return annotation, False


def _literals(annotation: object) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _kind(annotation: object) -> str:
    if get_origin(annotation) is tuple:
        return "list"
    kinds: dict[object, str] = {bool: "switch", int: "whole", float: "number", str: "text"}
    return kinds[annotation]
