"""What is marked in a list, for actions on several things at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Marks:
    """Ids that are marked; they stay marked while other things are listed."""

    def __init__(self) -> None:
        self._ids: set[int] = set()

    def __contains__(self, row_id: int) -> bool:
        return row_id in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def toggle(self, row_id: int) -> None:
        """Mark one, or unmark it."""
        self._ids ^= {row_id}

    def add(self, row_ids: Iterable[int]) -> None:
        """Mark these too."""
        self._ids.update(row_ids)

    def clear(self) -> None:
        """Mark nothing."""
        self._ids.clear()

    def among(self, ids: Sequence[int]) -> list[int]:
        """The marked ones in the order of a list; those that it lacks follow."""
        shown = [row_id for row_id in ids if row_id in self._ids] if self._ids else []
        return shown + sorted(self._ids.difference(shown))
