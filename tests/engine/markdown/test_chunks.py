"""Where documents are cut, and where they must not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.markdown.chunks import Sizes, cut_document
from engine.markdown.sentences import split_passage

SIZES = Sizes(largest=120, smallest=30, whole=2_000)
LONG = "灯塔计划的预算是三十万，由小雨负责。六月底交付第一版；" * 12


def _cut(text, is_markdown=True, sizes=SIZES):
    return cut_document(text, sizes, is_markdown=is_markdown)


def test_paragraphs_are_chunks_and_a_heading_stays_with_what_follows():
    text = f"# 灯塔计划\n\n{'预算三十万。' * 8}\n\n{'由小雨负责。' * 8}\n"
    first, second = _cut(text)
    assert first.text == f"# 灯塔计划\n\n{'预算三十万。' * 8}"
    assert second.text == "由小雨负责。" * 8
    assert (first.heading, second.heading) == ("灯塔计划", "灯塔计划")
    assert (first.line, second.line) == (1, 5)


def test_headings_in_a_row_go_together():
    (chunk,) = _cut(f"# 总\n\n## 分\n\n{'内容。' * 20}")
    assert chunk.text.startswith("# 总\n\n## 分\n\n内容。")
    assert chunk.heading == "分"


def test_code_and_tables_stay_whole():
    code = "```python\n" + "\n\n".join(f"value_{n} = {n}" for n in range(40)) + "\n```"
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| 行{n} | {n} |" for n in range(40))
    chunks = _cut(f"{'介绍一下这段代码。' * 5}\n\n{code}\n\n{table}\n\n{'后面还有话要说。' * 5}")
    texts = [chunk.text for chunk in chunks]
    assert code in texts and table in texts


def test_a_heading_sign_inside_code_is_no_heading():
    (chunk,) = _cut("```sh\n# 这是注释，不是标题，所以不该当作标题来切分\nmake\n```")
    assert chunk.heading == ""


def test_long_paragraphs_end_at_sentences():
    chunks = _cut(LONG)
    assert len(chunks) > 2
    assert all(len(chunk.text) <= 120 and chunk.text[-1] in "。；" for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks) == LONG


def test_english_sentences_end_at_full_stops_but_not_inside_numbers_or_names():
    text = "The budget is 3.5 million for e.g. hosting. Ana approved it on Friday. " * 4
    for piece in split_passage(text.strip(), 90):
        assert piece.endswith(".")
        assert not piece.endswith(("3.", "e.g."))


def test_long_lists_are_cut_between_items():
    items = [f"- 第{n}项：{'事情' * 10}" for n in range(12)]
    chunks = _cut("\n".join(items))
    assert len(chunks) > 2
    assert all(line in items for chunk in chunks for line in chunk.text.split("\n"))


def test_small_pieces_join_a_neighbour():
    chunks = _cut(f"短。\n\n{'一个够长的段落，说了些事情。' * 4}\n\n也短。")
    assert len(chunks) == 1
    assert chunks[0].text.startswith("短。") and chunks[0].text.endswith("也短。")


def test_a_small_document_is_one_chunk_and_an_empty_one_none():
    assert [chunk.text for chunk in _cut("短。")] == ["短。"]
    assert _cut(" \n\n") == []
    assert [chunk.text for chunk in _cut("# 只有标题")] == ["# 只有标题"]


def test_front_matter_and_link_definitions_are_kept():
    text = f"---\ntitle: 灯塔\ntags: [预算]\n---\n\n{'正文。' * 20}\n\n[站点]: https://example.com/lighthouse\n"
    whole = "\n".join(chunk.text for chunk in _cut(text))
    assert "title: 灯塔" in whole and "https://example.com/lighthouse" in whole


def test_plain_text_knows_no_markup():
    text = f"# 不是标题\n{'第一段的话。' * 8}\n\n    {'缩进的第二段。' * 8}"
    chunks = _cut(text, is_markdown=False)
    assert len(chunks) == 2
    assert {chunk.heading for chunk in chunks} == {""}


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_make_no_difference(ending):
    text = f"# 标题\n\n{'内容。' * 20}\n\n{'更多内容。' * 20}"
    assert _cut(text.replace("\n", ending)) == _cut(text)


@given(st.text(alphabet="ab。，. !\n#-`|中文👍🏽", max_size=400))
def test_nothing_but_blanks_is_lost(text):
    chunks = cut_document(text, Sizes(100, 10, 300), is_markdown=False)
    assert "".join("".join(c.text for c in chunks).split()) == "".join(text.split())


@given(st.text(alphabet="a。 \n中👍🏽é", min_size=1, max_size=300), st.integers(5, 60))
def test_pieces_are_never_too_long(text, largest):
    assert all(len(piece) <= largest for piece in split_passage(text, largest))


@pytest.mark.parametrize("piece", [".", "?!", " ", "a", "。", "\n", "…", ") "])
def test_odd_long_passages_are_cut_in_time(piece):
    import time

    started = time.perf_counter()
    split_passage(piece * (40_000 // len(piece)), 500)
    assert time.perf_counter() - started < 2.0
