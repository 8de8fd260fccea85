"""``jiyi atoms``."""

from __future__ import annotations


def test_lines_are_classified_as_read_at_a_moment_and_no_store_is_made(jiyi):
    lines = "昨天没有去开会\n\nCall mom tonight\n下周一开始实习\n".encode()
    answer = jiyi("atoms", "classify", "--now", "2026-03-18T10:00:00+08:00", "--json", stdin=lines)
    assert answer.code == 0, answer.err
    assert [set(item) for item in answer.json] == [
        {"text", "type", "confidence", "deadline", "rule"}
    ] * 3
    assert [(item["text"], item["type"], item["deadline"]) for item in answer.json] == [
        ("昨天没有去开会", "episodic", None),
        ("Call mom tonight", "planned", "2026-03-18"),
        ("下周一开始实习", "planned", "2026-03-23"),
    ]
    assert not jiyi.home.exists()


def test_facts_are_listed_and_shown(jiyi):
    jiyi("remember", "聊天", "--fact", "阿丽讨厌香菜", "--fact", "后天去医院拔牙")
    listed = jiyi("atoms", "--json").json
    assert listed["total"] == 2
    one = jiyi("atoms", "show", str(listed["atoms"][0]["id"]), "--json").json
    assert one == listed["atoms"][0]
    assert one["type"] == "planned"
    only = jiyi("atoms", "list", "--type", "preference")
    assert [line[1] for line in only.lines] == ["preference"]


def test_a_fact_can_be_changed(jiyi):
    jiyi("remember", "阿丽讨厌香菜")
    assert jiyi("atoms", "type", "1", "factual").code == 0
    assert jiyi("atoms", "show", "1", "--json").json["type"] == "factual"
    jiyi("atoms", "expire", "1")
    assert jiyi("atoms", "show", "1", "--json").json["state"] == "expired"
    jiyi("atoms", "reinforce", "1")
    assert jiyi("atoms", "show", "1", "--json").json["state"] == "active"


def test_what_is_missing_or_wrong_is_said(jiyi):
    assert jiyi("atoms", "show").code == 2
    assert jiyi("atoms", "type", "1").code == 2
    assert jiyi("atoms", "melt").code == 1
    unknown = jiyi("atoms", "show", "9")
    assert unknown.code == 1
    assert "9" in unknown.err
