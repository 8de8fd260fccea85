"""Filters as models write them: ``kind:decision tag:work since:上周`` beside the documented
``kinds=decision; tags=work; since=上周``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_SINGULAR = {"kind": "kinds", "tag": "tags", "topic": "topics", "participant": "participants"}
_MARK = r"[ \t]*[:：=＝][ \t]*"


def spelled_out(
    given: str | Mapping[str, object], names: Collection[str]
) -> str | Mapping[str, object]:
    """The filters with each of ``names`` written in full, a ``;`` before it and ``=`` after it.

    A text with quotes is taken as it is: it says itself where a value ends.
    """
    full = {name: name for name in names}
    full |= {one: many for one, many in _SINGULAR.items() if many in names and one not in names}
    if not isinstance(given, str):
        return {full.get(name, name): value for name, value in given.items()}
    if '"' in given:
        return given
    known = "|".join(sorted(map(re.escape, full), key=len, reverse=True))
    heads = re.compile(rf"(?:^|[\s;；,，]+)(?P<name>{known}){_MARK}", re.IGNORECASE)
    first = re.sub(rf"^\s*(\w+){_MARK}", r"\1=", given, count=1)
    return heads.sub(lambda head: f"; {full[head['name'].lower()]}=", first)
