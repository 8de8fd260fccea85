"""The context of a candidate: neighbours and session of turns and records, nothing for others."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.memory import Strength
from engine.retrieval.context import FADES_AFTER_S, NEIGHBOUR_SHARE, Place, contexts, place_of
from engine.storage.memories import RankRow

CHAT = (1, "chat")
NINE = 1_000_000_800.0


def turn(position: int, session: tuple[int, str] = CHAT) -> Place:
    return Place(session, position, None)


def record(moment: float, session: tuple[int, str] = CHAT) -> Place:
    return Place(session, None, moment)


def row(source: str, session: str | None = "s", event_time: float | None = None) -> RankRow:
    return RankRow(
        id=1,
        workspace_id=1,
        created_at=0.0,
        event_time=event_time,
        expires_at=None,
        pinned=False,
        archived=False,
        polarity=0,
        source=source,
        session_id=session,
        position=3,
        strength=Strength(0.5),
    )


def test_the_turn_beside_the_best_one_gets_its_share() -> None:
    relevance = {1: 1.0, 2: 0.1, 3: 0.1, 4: 0.5}
    places = {1: turn(0), 2: turn(1), 3: turn(5), 4: turn(0, (1, "other"))}
    found = contexts(relevance, places)
    assert found[2] == pytest.approx(NEIGHBOUR_SHARE * 1.0 + (1 - NEIGHBOUR_SHARE) * 1.0)
    assert found[3] == pytest.approx((1 - NEIGHBOUR_SHARE) * 1.0)
    assert found[4] == 0.0


def test_records_of_one_hour_belong_together_and_fade_apart() -> None:
    relevance = {1: 1.0, 2: 0.0, 3: 0.0}
    places = {1: record(NINE), 2: record(NINE + 60), 3: record(NINE + 3 * FADES_AFTER_S)}
    found = contexts(relevance, places)
    assert found[2] > found[3] > 0.0


def test_one_that_stands_alone_is_its_own_context() -> None:
    assert contexts({1: 0.7, 2: 0.2}, {}) == {1: 0.7, 2: 0.2}


def test_equal_session_names_of_two_workspaces_are_two_sessions() -> None:
    found = contexts({1: 1.0, 2: 0.1}, {1: turn(0, (1, "s")), 2: turn(1, (2, "s"))})
    assert found[2] == 0.0


def test_only_turns_and_records_with_a_time_of_day_have_a_place() -> None:
    midnight = NINE - NINE % 86_400
    assert place_of(row("conversation"), UTC) == turn(3, (1, "s"))
    assert place_of(row("import", event_time=NINE), UTC) == record(NINE, (1, "s"))
    assert place_of(row("import", event_time=midnight), UTC) is None
    assert place_of(row("import"), UTC) is None
    assert place_of(row("chat", event_time=NINE), UTC) is None
    assert place_of(row("conversation", session=None), UTC) is None


@given(
    st.dictionaries(
        st.integers(0, 40),
        st.tuples(st.floats(0, 1), st.integers(0, 3), st.integers(0, 9)),
        min_size=1,
    )
)
def test_a_context_lies_between_0_and_1(pool: dict[int, tuple[float, int, int]]) -> None:
    relevance = {i: value for i, (value, _, _) in pool.items()}
    places = {i: turn(position, (1, str(session))) for i, (_, session, position) in pool.items()}
    assert all(0.0 <= value <= 1.0 + 1e-9 for value in contexts(relevance, places).values())
