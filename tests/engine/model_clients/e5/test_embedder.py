"""The embedded default model, really loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from engine.domain.errors import ModelUnavailable
from engine.model_clients.e5 import conversion, embedder, self_test
from engine.model_clients.e5.embedder import E5Embedder
from engine.model_clients.e5.numpy_engine import NumpyEngine
from engine.model_clients.e5.onnx_engine import OnnxEngine
from engine.model_clients.e5.space import FIRST_ID, LAST_ID
from engine.model_clients.e5.tokenizer import model_text
from engine.model_clients.protocol import Embedder, Matrix

TEXTS = (
    "用户对花生过敏，点菜时要避开。",
    "The deploy key lives in the blue vault.",
    "来週の木曜に歯医者の予約がある。",
    "회의는 금요일 오후로 옮겨졌다.",
    "Короткая заметка о поездке в горы.",
    "v2.3.1 → 192.168.0.7:8080 😀",
    "很长的一段文字，" * 15,
)


def test_it_is_an_embedder_of_its_space(e5: E5Embedder) -> None:
    model: Embedder = e5
    assert model.identity.dims == 384
    assert model.identity.transform == "langsub-1"
    assert (model.identity.query_prefix, model.identity.passage_prefix) == ("query: ", "passage: ")


def test_onnxruntime_serves_where_it_is_installed(e5: E5Embedder) -> None:
    pytest.importorskip("onnxruntime")
    assert e5.engine_name == "onnxruntime"


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("我对什么吃的过敏？", "Peanuts give the user a rash.", "周末打算去爬山。"),
        ("What am I allergic to?", "用户一碰花生就会起疹子。", "The bicycle needs a new chain."),
        ("猫の名前は？", "고양이를 콩이라고 부른다.", "来月の家賃は銀行で払う。"),
    ],
)
def test_meaning_beats_the_languages_of_the_texts(e5: E5Embedder, query, right, wrong) -> None:
    vector = e5.embed_query(query)
    same, other = e5.embed_passages([right, wrong])
    assert float(vector @ same) > float(vector @ other) + 0.05


def test_both_engines_give_the_same_vectors(models_folder, tensors, tokenizer) -> None:
    pytest.importorskip("onnxruntime")
    rows = [[FIRST_ID, *tokenizer.ids(model_text(text))[:510], LAST_ID] for text in TEXTS]
    graph = conversion.ensure(models_folder).graph
    runtime, plain = OnnxEngine(graph).mean_states(rows), NumpyEngine(tensors).mean_states(rows)
    cosines = (runtime * plain).sum(1) / (
        np.linalg.norm(runtime, axis=1) * np.linalg.norm(plain, axis=1)
    )
    assert cosines.min() > 0.9995


def test_without_onnxruntime_numpy_serves_the_same_space(
    models_folder: Path, e5: E5Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    plain = embedder.load(models_folder)
    assert plain.engine_name == "numpy"
    for text in TEXTS[:3]:
        assert float(plain.embed_query(text) @ e5.embed_query(text)) > 0.995


def test_an_engine_with_other_vectors_is_refused(
    models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = ("query: another text", *self_test.GOLDEN_TEXTS[1:])
    monkeypatch.setattr(self_test, "GOLDEN_TEXTS", others)
    with pytest.raises(ModelUnavailable) as caught:
        embedder.load(models_folder)
    assert caught.value.key == "error.e5_wrong_vectors"


def test_every_vector_has_length_one_whatever_the_text_and_none_takes_long(
    e5: E5Embedder,
) -> None:
    texts = ["", " ", "\0", "\ud800", "猫", "\ufdfa" * 1_000, "x" * 100_000]
    start_s = time.process_time()
    rows = e5.embed_passages(texts)
    assert time.process_time() - start_s < 10
    assert rows.shape == (len(texts), 384) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert np.allclose(np.linalg.norm(e5.embed_query("\ufdfa" * 1_000)), 1.0, atol=1e-5)
    assert e5.embed_passages([]).shape == (0, 384)


def test_a_batch_gives_what_single_texts_give(e5: E5Embedder) -> None:
    texts = [f"第{number}条记忆：cat number {number}" * (number % 5 + 1) for number in range(20)]
    single = np.concatenate([e5.embed_passages([text]) for text in texts])
    assert (e5.embed_passages(texts) * single).sum(1).min() > 0.9999


def test_compatibility_forms_and_controls_do_not_change_the_vector(e5: E5Embedder) -> None:
    plain, odd = e5.embed_passages(["cat 123 sleeps", "ｃａｔ\x00１２３\x1b sleeps"])
    assert float(plain @ odd) > 0.999


def test_the_end_of_a_text_longer_than_the_model_takes_still_counts(e5: E5Embedder) -> None:
    filler = "今天天气不错，我们去公园散步，看见许多花。" * 25
    ends = ["部署密钥放在蓝色保险箱里。" * 25, "妹妹养了一只会说话的鹦鹉。" * 25]
    vault, parrot = e5.embed_passages([filler + end for end in ends])
    query = e5.embed_query("部署密钥放在哪里")
    assert float(query @ vault) > float(query @ parrot) + 0.02


def test_eight_threads_get_what_one_gets(e5: E5Embedder) -> None:
    texts = [f"记忆 {number} about topic {number * 7 % 13}" for number in range(4)]
    right = e5.embed_passages(texts)
    query = e5.embed_query("topic 7")
    answers: list[tuple[Matrix, Matrix]] = []

    def embed() -> None:
        answers.append((e5.embed_passages(texts), e5.embed_query("topic 7")))

    threads = [threading.Thread(target=embed) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all(np.allclose(rows, right, atol=1e-5) for rows, _ in answers)
    assert all(np.allclose(found, query, atol=1e-5) for _, found in answers)


FORK = """
import os, sys, threading
from pathlib import Path
from engine.model_clients.e5.embedder import load
model = load(Path(sys.argv[1]))
before = model.embed_query("fork")
busy = threading.Thread(target=model.embed_passages, args=(["busy with a batch"] * 60,))
busy.start()
child = os.fork()
if child == 0:
    same = abs(model.embed_query("fork") - before).max() < 1e-5
    rows = model.embed_passages(["in the child"])
    os._exit(0 if same and rows.shape == (1, 384) else 1)
_, status = os.waitpid(child, 0)
busy.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_embeds_while_its_parent_was_busy(models_folder: Path) -> None:
    done = run_python(FORK, models_folder)
    assert done.returncode == 0, done.stderr


MEMORY = """
import sys, threading
from pathlib import Path
import psutil
from engine.model_clients.e5.embedder import load
model = load(Path(sys.argv[1]))
model.embed_passages([f"第{n}条记忆 about the cat {n * 7}" for n in range(100)])
texts = ["很长的一段文字，" * 120] + ["short"] * 10
threads = [threading.Thread(target=model.embed_passages, args=(texts,)) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(psutil.Process().memory_info().rss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what counts as resident differs")
def test_the_process_stays_within_its_memory(models_folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    done = run_python(MEMORY, models_folder)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 260_000_000


def run_python(script: str, models_folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(models_folder)],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_nothing_is_printed_and_a_closed_model_says_so(
    models_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = embedder.load(models_folder)
    model.embed_query("quiet")
    model.close()
    with pytest.raises(ModelUnavailable) as caught:
        model.embed_passages(["closed"])
    assert caught.value.key == "error.model_closed"
    assert capfd.readouterr() == ("", "")
