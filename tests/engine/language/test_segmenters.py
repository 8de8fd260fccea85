from __future__ import annotations

import marshal
import random
import threading

import pytest

from engine.language.segmenters import CompiledSegmenter, PythonSegmenter, best_segmenter

SENTENCES = [
    "我上次说的书房那个路由器管理口令贴在哪儿了来着",
    "数据库迁移前一定要先备份",
    "他现在住在乌鲁木齐",
    "王小帅的电话在通讯录第三页",
    "端到端测试结果",
    "今天重跑后条悬空引用清零",
    "云",
    "龘龘龘",
]
EXTRA_WORDS = ("云舟计划", "小云同学", "悬空引用")


@pytest.fixture(scope="module")
def python():
    return PythonSegmenter()


@pytest.fixture(scope="module")
def compiled():
    pytest.importorskip("rjieba")
    return CompiledSegmenter()


def random_runs(count: int) -> list[str]:
    """Runs cut from real sentences, and runs of arbitrary Han characters."""
    draw = random.Random(20)
    text = "".join(SENTENCES)
    cut = [text[start : start + draw.randrange(1, 30)] for start in range(len(text))]
    wild = [
        "".join(chr(draw.randrange(0x4E00, 0x9FD6)) for _ in range(draw.randrange(1, 20)))
        for _ in range(count)
    ]
    return cut + wild


def test_both_segmenters_give_the_same_words(python, compiled):
    assert python.id == compiled.id
    for run in SENTENCES + random_runs(1500):
        assert python.cut(run) == compiled.cut(run)
        assert python.cut_exact(run) == compiled.cut_exact(run)


def test_both_segmenters_give_the_same_words_with_extra_words():
    pytest.importorskip("rjieba")
    python = PythonSegmenter(extra_words=EXTRA_WORDS)
    compiled = CompiledSegmenter(extra_words=reversed(EXTRA_WORDS))
    assert python.id == compiled.id != PythonSegmenter().id
    for run in ("小云同学把云舟计划交给我们", *SENTENCES):
        assert python.cut(run) == compiled.cut(run)
    assert "云舟计划" in compiled.cut("小云同学把云舟计划交给我们")


def test_exact_words_joined_give_the_run_again(python):
    for run in SENTENCES:
        assert "".join(python.cut_exact(run)) == run


def test_python_segmenter_says_nothing_on_stdout_or_stderr(tmp_path, capfd):
    PythonSegmenter(tmp_path / "cache").cut("数据库迁移")
    assert capfd.readouterr() == ("", "")


def test_without_a_cache_folder_a_foreign_dictionary_is_not_read(tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "jieba.cache").write_bytes(marshal.dumps(({"数据库迁": 10**9}, 10**9)))
    monkeypatch.setattr("tempfile.tempdir", str(shared))
    before = (shared / "jieba.cache").read_bytes()
    assert PythonSegmenter().cut("数据库迁移") == ["数据", "据库", "数据库", "迁移"]
    assert [path.name for path in shared.iterdir()] == ["jieba.cache"]
    assert (shared / "jieba.cache").read_bytes() == before


def test_garbage_in_the_cache_folder_is_replaced(tmp_path):
    (tmp_path / "jieba.cache").write_bytes(b"no dictionary")
    assert PythonSegmenter(tmp_path).cut("数据库") == ["数据", "据库", "数据库"]
    assert PythonSegmenter(tmp_path).cut("数据库") == ["数据", "据库", "数据库"]


def test_first_cuts_from_many_threads_at_once_agree():
    segmenter = best_segmenter(extra_words=EXTRA_WORDS)
    seen: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: seen.append(segmenter.cut("数据库迁移"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [["数据", "据库", "数据库", "迁移"]] * 8
