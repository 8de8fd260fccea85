"""People and named things found in a text, against lines labelled by hand."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.extraction.entities import entities_of, people, topics
from engine.language import names

LINES = Path(__file__).parents[2] / "data" / "entity_lines.jsonl"
LEAST_PRECISION = 0.9
LEAST_RECALL = {"people": 0.9, "topics": 0.65}
MOST_MS = 0.5


@dataclass(frozen=True)
class Line:
    """A text with the people and topics that a reader would name."""

    language: str
    text: str
    people: Sequence[str]
    topics: Sequence[str]


def lines() -> Iterator[Line]:
    for line in LINES.read_text(encoding="utf-8").splitlines():
        yield Line(**json.loads(line))


def test_there_are_a_hundred_lines_of_each_language_some_without_names() -> None:
    counts = Counter(line.language for line in lines())
    assert min(counts["zh"], counts["en"]) >= 100
    assert sum(not line.people and not line.topics for line in lines()) >= 40


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("what", ["people", "topics"])
def test_what_is_found_is_nearly_always_right(language: str, what: str) -> None:
    hits = found = wanted = 0
    for line in lines():
        if line.language == language:
            got = set(getattr(entities_of(line.text), what))
            gold = set(getattr(line, what))
            hits, found, wanted = hits + len(got & gold), found + len(got), wanted + len(gold)
    print(f"{language} {what}: precision {hits / found:.3f}, recall {hits / wanted:.3f}")
    assert hits / found >= LEAST_PRECISION
    assert hits / wanted >= LEAST_RECALL[what]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_short_text_costs_little(language: str) -> None:
    texts = [line.text for line in lines() if line.language == language]
    for text in texts:
        entities_of(text)
    best = min(_milliseconds(texts) for _ in range(3))
    assert best < MOST_MS


def _milliseconds(texts: Sequence[str]) -> float:
    started = time.process_time()
    for text in texts:
        entities_of(text)
    return (time.process_time() - started) / len(texts) * 1000


@pytest.mark.parametrize(
    "text", ["", " \n", "？", "😀", "a" * 20_000, "小" * 20_000, "\ud800", "#", "《》"]
)
def test_any_text_is_allowed(text: str) -> None:
    entities_of(text)


def test_a_name_is_told_once_in_the_spelling_seen_first() -> None:
    assert people("阿丽见了小明，小明请阿丽吃饭") == ("阿丽", "小明")
    assert topics("用 Redis 缓存，redis 的端口不变 #缓存 #缓存") == ("Redis", "缓存")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("从小学琴，现在小时工很贵，老师说老板小气", ()),
        ("向周涛请教了电路图", ("周涛",)),
        ("张杨路和东昌路都在修", ()),
        ("诸葛亮和司马光不是一个朝代的人", ("诸葛亮", "司马光")),
        ("Thanks, Deb! See you in May.", ("Deb",)),
        (
            "Lei Mingxuan met Mr. O'Neill and Dr. J. Smith",
            ("Lei Mingxuan", "Mr. O'Neill", "Dr. J. Smith"),
        ),
        ("Chiang Mai in March; St. John's Wood; the Victoria line", ()),
        ("Grace period ends. Will you mark it?", ()),
        ("[Photo] Sunny day 【Grace】 Hope for rain", ()),
    ],
)
def test_people(text: str, expected: tuple[str, ...]) -> None:
    assert people(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("见 https://example.com/Some_Page.html 和 me@Example.com", ()),
        ("代号“北极星”的项目延期；他说“好的”", ("北极星",)),
        ("I'm sure We've seen It's fine, Let's go", ()),
        ("Renamed load_config in config.yaml and `git rebase`", ("load_config", "config.yaml")),
        ("Moved to North Carolina, then New York", ("North Carolina", "New York")),
    ],
)
def test_topics(text: str, expected: tuple[str, ...]) -> None:
    assert topics(text) == expected


def test_words_are_tagged_alike_where_only_the_python_segmenter_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "张伟在杭州买了一套房子"
    compiled = names.tagged_words(text)
    names._tagger.cache_clear()
    monkeypatch.setattr(names, "find_spec", lambda name: None)
    try:
        plain = names.tagged_words(text)
    finally:
        names._tagger.cache_clear()
    assert [(word.text, word.tag, word.begin) for word in plain] == [
        (word.text, word.tag, word.begin) for word in compiled
    ]
    assert "".join(word.text for word in plain) == text
