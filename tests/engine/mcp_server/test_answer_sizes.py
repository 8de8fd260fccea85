"""Answers fit the limit, whatever is stored, and what is cut can be read on."""

from __future__ import annotations

import json
import re

import pytest

from engine.bootstrap import open_engine
from engine.domain.caller import Caller
from engine.use_cases.memorize import MemorizeRequest
from tests.engine.mcp_server.talking import talk

LIMIT = 9_000
LONG = "长文\n\t“quoted” 😀 " * 900 + "尾标QX7"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A store with many fitting memories of 2,000 characters."""
    home = tmp_path_factory.mktemp("home")
    requests = [
        MemorizeRequest(
            {
                "text": (f"第{number}次会议 讨论预算\n" + f"第{number}段内容，" * 400)[:2_000],
                "tags": ["标签" * 20] * 3,
                "event_time": 1_780_000_000.0 + number,
            }
        )
        for number in range(60)
    ]
    with open_engine(home, environ={"JIYI_EMBEDDING__PROVIDER": "hashing"}) as engine:
        engine.memorize_many(requests, Caller("test"))
    return home


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("k", "limit"), [(None, LIMIT), (1, LIMIT), (15, LIMIT), (15, 1_000), (5, 2_000)]
)
def test_a_recall_fits_and_shows_every_hit_there_is_room_for(many, form, k, limit):
    with talk(many, JIYI_MCP__MAX_RESULT_BYTES=str(limit)) as client:
        answer = client.ask("recall", query="会议预算", k=k, format=form)
    assert len(answer.encode()) <= limit
    shown = len(re.findall(r'(?m)^#\d+ · |"uid"', answer))
    if limit == LIMIT:
        assert shown == (k or 5)
        assert len(answer.encode()) > min(limit * 0.9, 5_000)
    assert 1 <= shown <= (k or 5)
    if form == "text":
        assert "get_memory #" in answer or k == 1
        assert answer.rstrip().splitlines()[-1].startswith("End of recorded memories.")
    else:
        assert "notice" in json.loads(answer)
    assert "vector" not in answer.replace('"degraded"', "")


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("limit", [LIMIT, 2_000])
def test_pages_of_a_list_neither_repeat_nor_skip(many, form, limit):
    found: list[int] = []
    cursor = None
    with talk(many, JIYI_MCP__MAX_RESULT_BYTES=str(limit)) as client:
        while True:
            answer = client.ask("list_memories", limit=40, cursor=cursor, format=form)
            assert len(answer.encode()) <= limit
            if form == "json":
                page = json.loads(answer)
                found += [memory["id"] for memory in page["memories"]]
                cursor = page["next_cursor"]
            else:
                found += [int(number) for number in re.findall(r"(?m)^#(\d+) · ", answer)]
                cursor = (re.findall(r"cursor=(\S+)", answer) or [None])[0]
            if cursor is None:
                break
    assert found == sorted(set(found), reverse=True)
    assert len(found) == 60


def test_a_long_text_is_read_back_exactly_in_pages(tmp_path):
    with talk(tmp_path) as client:
        client.ask("memorize", text=LONG, fields="summary=" + "概" * 5_000)
        slices: list[str] = []
        offset: int | None = 0
        while offset is not None:
            answer = client.ask("get_memory", id=1, offset=offset, format="json")
            assert len(answer.encode()) <= LIMIT
            page = json.loads(answer)
            slices.append(page["text"])
            offset = page.get("next_offset")
    assert "".join(slices) == LONG
    assert len(slices) > 2


def test_a_long_text_can_be_read_on_as_text(tmp_path):
    with talk(tmp_path) as client:
        client.ask("memorize", text=LONG)
        assert "chars in all, get_memory #1)" in client.ask("recall", query="尾标QX7")
        answer = client.ask("get_memory", id=1)
        seen = 0
        while following := re.search(r"chars (\d+)-(\d+) of (\d+); go on with offset=", answer):
            assert len(answer.encode()) <= LIMIT
            assert int(following[1]) == seen
            seen = int(following[2])
            answer = client.ask("get_memory", id=1, offset=seen)
        assert "尾标QX7" in answer and f"of {len(LONG)}, the last" in answer
        assert "behind the end" in client.refused("get_memory", id=1, offset=len(LONG))


def test_metadata_without_end_leaves_room_for_the_text(tmp_path):
    with talk(tmp_path, JIYI_MCP__MAX_RESULT_BYTES="2000") as client:
        client.ask(
            "memorize",
            text="short text",
            tags=[f"标签{number}" * 20 for number in range(100)],
            fields={"summary": "概" * 10_000, "key_facts": ["事实" * 200] * 1, "source": "x" * 999},
        )
        for form in ("text", "json"):
            answer = client.ask("get_memory", id=1, format=form)
            assert len(answer.encode()) <= 2_000
            assert "short text" in answer
