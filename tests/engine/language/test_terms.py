from __future__ import annotations

import re
import subprocess
import sys
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.folding import fold
from engine.language.segmenters import best_segmenter
from engine.language.stop_words import LANGUAGES, load_stop_words
from engine.language.terms import (
    MAX_QUERY_BIGRAMS,
    MAX_QUERY_WORDS,
    Analyser,
    IndexTerms,
    QueryTerms,
    build_analyser,
)

ANALYSER = build_analyser()


def index(text: str) -> IndexTerms:
    return ANALYSER.index_terms(text)


def query(text: str) -> QueryTerms:
    return ANALYSER.query_terms(text)


def contains(chars: tuple[str, ...], run: str) -> bool:
    """Whether ``run`` (two characters or more) stands in ``chars`` as a phrase of pairs."""
    pairs = tuple(one + other for one, other in pairwise(run))
    width = len(pairs)
    return any(chars[at : at + width] == pairs for at in range(len(chars) - width + 1))


def matched(memory: str, asked: str) -> set[str]:
    stored, terms = index(memory), query(asked)
    return (
        set(terms.words) & set(stored.words)
        | set(terms.bigrams) & set(stored.chars)
        | {one for one in terms.singles if any(c.startswith(one) for c in stored.chars)}
    )


@pytest.mark.parametrize(
    ("asked", "memory"),
    [
        ("pre-edit", "pre-edit 检查清单在首页"),
        ("TODO: 周五", "TODO: 周五前交报表"),
        ('"先别发布', '他说 "先别发布" 就挂了'),
        ("don't", "don't 在生产库做实验"),
        ("don’t", "don't 在生产库做实验"),
        ("C++", "C++ 项目放在 D 盘"),
        ("AND", "AND 门和 OR 门的实验报告"),
        ("OR", "AND 门和 OR 门的实验报告"),
        ("设备", "设备清单(devices)：书房 NAS 型号 cdm-xxc"),
        ("设备清单", "设备清单(devices)：书房 NAS 型号 cdm-xxc"),
        ("NAS", "设备清单(devices)：书房 NAS 型号 cdm-xxc"),
        ("用户", "826 号工单：用户身份校验放在网关"),
        ("用户身份", "826 号工单：用户身份校验放在网关"),
        ("花名", "我的花名叫小云"),
        ("小云", "我的花名叫小云"),
        ("云", "我的花名叫小云"),
        ("口令", "db 口令在保险柜"),
        ("db", "db 口令在保险柜"),
        ("itgc", "今天重跑gen-itgc后50条悬空引用清零"),
        ("gen-itgc", "今天重跑gen-itgc后50条悬空引用清零"),
        ("悬空", "今天重跑gen-itgc后50条悬空引用清零"),
        ("50条", "今天重跑gen-itgc后50条悬空引用清零"),
        ("lr", "把超参lr调到3e-4再训一轮"),
        ("3e-4", "把超参lr调到3e-4再训一轮"),
        ("小帅", "王小帅的电话在通讯录第三页"),
        ("乌鲁", "他现在住在乌鲁木齐"),
        ("库迁移", "数据库迁移前一定要先备份"),
        ("端到端测试结果", "端到端测试"),
        ("截断的表情", "\ufffd 截断的表情"),
        ("后半", "前半\ufffd后半 尾词"),
        ("尾词", "前半\ufffd后半 尾词"),
        ("資料庫", "资料库在三楼"),
        ("schedules", "we scheduled it for May"),
        ("load config", "the loadConfig function"),
        ("50 GB", "a disk of 50GB"),
        ("1000元", "押金 1,000 元"),
        ("🎉", "上线了🎉"),
        ("タワー", "東京タワーに行った"),
        ("서울", "서울에서 만나요"),
        ("กรุงเทพ", "ฉันอยู่กรุงเทพมหานคร"),
    ],
)
def test_query_finds_the_memory(asked, memory):
    assert matched(memory, asked)


@pytest.mark.parametrize(
    ("asked", "memory"),
    [
        ("库迁移", "数据库迁移前一定要先备份"),
        ("乌鲁", "他现在住在乌鲁木齐"),
        ("小帅", "王小帅的电话在通讯录第三页"),
        ("用户身份", "826 号工单：用户身份校验放在网关"),
        ("设备清单", "设备清单(devices)：书房 NAS"),
        ("タワー", "東京タワーに行った"),
        ("서울", "서울에서 만나요"),
    ],
)
def test_part_of_a_word_is_contiguous_in_the_index(asked, memory):
    assert contains(index(memory).chars, asked)


def test_spoken_question_keeps_its_content_words_only():
    terms = query("我上次说的书房那个路由器管理口令贴在哪儿了来着")
    assert terms.words == ("书房", "路由", "路由器", "管理", "口令", "贴")
    assert terms.singles == ()
    memory = index("书房路由器的管理口令贴在机身底部")
    assert set(terms.words) <= set(memory.words)


def test_pairs_do_not_reach_over_a_function_word():
    assert query("书房的口令").bigrams == ("书房", "口令")


def test_one_character_left_between_function_words_is_a_single():
    assert query("云在哪里").singles == ("云",)


@pytest.mark.parametrize("asked", ["", "   ", "*", "(", '"', "？！…", "--", "\t\n\u3000", "\u200b"])
def test_blanks_and_punctuation_are_an_empty_query(asked):
    assert query(asked).is_empty


@pytest.mark.parametrize("asked", ["我的", "AND", "don't", "在哪儿", "what is it", "は"])
def test_function_words_alone_are_searched_after_all(asked):
    terms = query(asked)
    assert terms.only_stop_words
    assert not terms.is_empty


def test_a_function_word_beside_content_is_left_out():
    terms = query("NEAR the river")
    assert terms.words == ("near", "river")
    assert not terms.only_stop_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gen-itgc", ("gen-itgc", "gen", "itgc")),
        ("C++", ("c++", "c")),
        ("don't", ("don't", "don")),
        ("foo_bar.py", ("foo_bar.py", "foo", "bar", "py")),
        ("v2.1.3", ("v2.1.3", "v2", "1", "3")),
        ("a@b.com", ("a@b.com", "a", "b", "com")),
        ("/usr/local/bin", ("usr/local/bin", "usr", "local", "bin")),
        ("loadConfig", ("loadconfig", "load", "config")),
        ("HTTPServer", ("httpserver", "http", "server")),
        ("50条", ("50", "条")),
        ("50gb", ("50gb", "50", "gb")),
        ("1,000", ("1000",)),
        ("привет-мир", ("привет-мир", "привет", "мир")),
        ("हिन्दी", ("हिन्दी",)),
        ("héllo", ("héllo",)),
        ("好🎉👍", ("好", "🎉", "👍")),
        ("x, y. (z)", ("x", "y", "z")),
        ("__init__", ("init",)),
    ],
)
def test_words_of_a_text(text, words):
    assert index(text).words == words


def test_characters_are_pairs_and_then_the_last_one():
    assert index("小云来了 ok 东京タワー").chars == (
        *("小云", "云来", "来了", "了"),
        *("东京", "京タ", "タワ", "ワー", "ー"),
    )


def test_long_runs_are_cut_into_pieces_of_64_characters():
    words = index("a" * 150).words
    assert [len(word) for word in words] == [64, 64, 22]


def test_a_very_long_query_is_bounded_and_sampled_over_its_whole_length():
    alphabet = "".join(chr(code) for code in range(0x4E00, 0x4E00 + 10_000))
    terms = query(alphabet + " " + " ".join(f"word{number}" for number in range(1500)))
    assert len(terms.words) == MAX_QUERY_WORDS
    assert len(terms.bigrams) == MAX_QUERY_BIGRAMS
    assert terms.bigrams[-1] > "\u7000"
    assert any(word.startswith("word") or word.isdigit() for word in terms.words)


def test_stop_words_are_written_in_folded_form():
    assert [word for word in load_stop_words() if fold(word) != word] == []
    assert len(LANGUAGES) == 4


@given(st.text(st.characters(), max_size=200))
@settings(deadline=None)
def test_any_text_gives_clean_terms(text):
    terms, asked = index(text), query(text)
    for token in (*terms.words, *terms.chars, *asked.words, *asked.bigrams, *asked.singles):
        assert 1 <= len(token) <= 64
        assert not re.search(r'[\s"]', token)
        assert not any(unicodedata.category(one) in {"Cc", "Cs"} for one in token)
    assert len(set(asked.words)) == len(asked.words) <= MAX_QUERY_WORDS
    assert set(asked.words) <= set(terms.words)
    assert set(asked.bigrams) <= set(terms.chars)
    assert asked.is_empty == (not terms.words)


SCRIPTS = "云舟数据库迁移備份ガタ서울กข aZ9_-.'@/:+#,éपि🎉\u200d\u0301\ud83d"


@given(st.text(st.sampled_from(SCRIPTS)))
@settings(deadline=None)
def test_any_mixture_of_scripts_gives_clean_terms(text):
    for token in index(text).words:
        assert token
        assert not re.search(r"\s", token)
    assert set(query(text).words) <= set(index(text).words)


HAN = st.sampled_from("数据库迁移前先备份王小帅电话乌鲁木齐龘")


@given(st.text(HAN, min_size=2, max_size=30), st.data())
@settings(deadline=None)
def test_any_part_of_a_chinese_run_is_contiguous_in_the_index(run, data):
    start = data.draw(st.integers(0, len(run) - 2))
    end = data.draw(st.integers(start + 2, len(run)))
    chars = index(f"x {run} y").chars
    plain = Analyser(best_segmenter(), frozenset())
    assert contains(chars, run[start:end])
    assert set(plain.query_terms(run[start:end]).bigrams) <= set(chars)


def test_a_megabyte_is_indexed_within_three_seconds():
    text = ("数据库迁移前先备份 gen-itgc，the meeting notes are in foo_bar.py。" * 20_000)[:500_000]
    index("预热")
    started = time.process_time()
    index(text)
    assert time.process_time() - started < 3


def test_importing_and_building_loads_no_dictionary():
    code = (
        "import sys; from engine.language.terms import build_analyser; build_analyser();"
        "print(sorted({'jieba', 'rjieba', 'snowballstemmer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
