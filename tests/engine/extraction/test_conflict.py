"""What contradicts, what repeats, and what does neither: rules and figures on labelled pairs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.extraction.conflict import Statement, Verdict, judge, says_more
from engine.language.terms import Analyser, build_analyser

PAIRS = Path(__file__).parents[2] / "data" / "conflict_pairs.jsonl"
Asked = Callable[..., Verdict | None]


@pytest.fixture(scope="module")
def analyser() -> Analyser:
    return build_analyser()


@pytest.fixture(scope="module")
def asked(analyser: Analyser) -> Asked:
    def words_of(text: str) -> tuple[str, ...]:
        return analyser.index_terms(text).words

    def ask(old: str, new: str, *, is_near: bool = True, stance: int = 0) -> Verdict | None:
        one, other = Statement(new, words_of, stance), Statement(old, words_of, -stance)
        return judge(one, other, is_near=is_near)

    return ask


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("我喜欢川菜", "我讨厌川菜", "polarity"),
        ("我吃香菜", "我不吃香菜", "negation"),
        ("例会周三开", "例会周四开", "value"),
        ("灯塔计划用 PostgreSQL", "灯塔计划改用 SQLite", "change"),
        ("She works at Acme", "She works at Initech", "value"),
        ("The flag is enabled", "The flag is disabled", "polarity"),
        ("I eat meat", "I never eat meat", "negation"),
    ],
)
def test_one_thing_that_differs_in_otherwise_equal_text_contradicts(
    asked: Asked, old: str, new: str, reason: str
) -> None:
    found = asked(old, new)
    assert found is not None
    assert (found.verdict, found.reason) == ("contradiction", reason)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("阿强在甲公司", "小红在乙公司"),
        ("我住在北京", "我住在北京朝阳区"),
        ("Room 201 is free", "Room 305 is free"),
        ("我昨天跑了五公里", "我昨天跑了八公里"),
        ("I don't like tea", "I hate tea"),
    ],
)
def test_two_statements_that_can_both_stand_are_left_alone(
    asked: Asked, old: str, new: str
) -> None:
    found = asked(old, new)
    assert found is None or found.verdict == "duplicate"


def test_a_numeral_and_its_digits_are_one_value(asked: Asked) -> None:
    found = asked("数据库每天凌晨两点备份", "数据库每天凌晨2点备份")
    assert found is not None
    assert found.verdict == "duplicate"


def test_stances_given_by_the_writer_count(asked: Asked) -> None:
    found = asked("关于远程办公", "关于远程办公的", stance=-1)
    assert found is not None
    assert (found.verdict, found.reason) == ("contradiction", "polarity")


def test_what_one_of_two_adds_is_seen(analyser: Analyser) -> None:
    def words_of(text: str) -> tuple[str, ...]:
        return analyser.index_terms(text).words

    short, long = Statement("我养了猫", words_of), Statement("我养了一只橘色的猫", words_of)
    assert says_more(long, short)
    assert not says_more(short, long)


def test_precision_and_recall_on_the_labelled_pairs(asked: Asked) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        found = asked(pair["old"], pair["new"])
        told = "different" if found is None else found.verdict
        seen[pair["label"], told] += 1
        if told != pair["label"]:
            print(f"{pair['label']:<13} told {told:<13} {pair['old']} | {pair['new']}")
    for verdict in ("contradiction", "duplicate"):
        said = sum(count for (_, told), count in seen.items() if told == verdict)
        meant = sum(count for (label, _), count in seen.items() if label == verdict)
        right = seen[verdict, verdict]
        print(f"{verdict}: precision {right / said:.3f}, recall {right / meant:.3f} of {meant}")
        assert right / said >= 0.9
        assert right / meant >= 0.7
