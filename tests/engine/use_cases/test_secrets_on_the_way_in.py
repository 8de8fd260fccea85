"""Keys and passwords never reach the store, however a text comes in."""

import gzip
import json

import pytest

from engine.bootstrap import open_engine
from engine.domain.errors import InvalidInput
from engine.domain.fact import FactRequest
from engine.use_cases.edit import EditRequest
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest
from tests.engine.use_cases.shortcuts import CALLER, HASHING, KEYWORDS, found, remember

SECRETS = {
    "sk-sp-ABCDEFGH12345678.abcdefgh12345678_XYZ": "Key: {}",
    "0a1b2c3d4e5f60718293a4b5c6d7e8f9.ZpQr12": "智谱的 {} 给小雨",
    "ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ": "CI 用 {}",
    "hunter2": "路由器密码是 {}",
    "MIIEpAIBAAKCAQEA7bq": "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl": "Authorization: Bearer {}",
}


def _bytes_of(home):
    return b"".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


def test_a_masked_secret_is_in_no_file_of_the_home_folder(home, clock):
    with open_engine(home, environ=HASHING, clock=clock) as engine:
        for secret, frame in SECRETS.items():
            stored = engine.memorize(MemorizeRequest({"text": frame.format(secret)}), CALLER)
            assert secret not in stored.memory.text
            assert [notice.key.startswith("secrets.masked.") for notice in stored.notices] == [True]
        target = remember(engine, "路由器在客厅")
        edited = engine.edit(EditRequest(target, {"summary": "密码是 hunter2"}), CALLER)
        assert edited.memory.summary == "密码是 [masked]"
        assert edited.notices[0].key == "secrets.masked.password"
        engine.delete(target, CALLER)
    kept = _bytes_of(home)
    for secret in SECRETS:
        assert secret.encode() not in kept


def test_what_is_left_of_it_is_found(engine):
    stored = remember(engine, "路由器密码是 hunter2，贴在背面")
    assert stored in found(engine, "路由器密码")


def test_a_batch_is_masked_memory_by_memory(engine):
    requests = [MemorizeRequest({"text": text}) for text in ("密码是 hunter2", "今天下雨")]
    first, second = engine.memorize_many(requests, CALLER)
    assert first.memory.text == "密码是 [masked]"
    assert first.notices and not second.notices


@pytest.mark.parametrize(
    ("policy", "text", "key"),
    [("warn", "密码是 hunter2", "secrets.seen.password"), ("off", "密码是 hunter2", None)],
)
def test_the_policy_may_only_warn_or_not_look(home, policy, text, key):
    with open_engine(home, environ=KEYWORDS | {"JIYI_SECRETS__POLICY": policy}) as engine:
        stored = engine.memorize(MemorizeRequest({"text": text}), CALLER)
        assert stored.memory.text == text
        assert [notice.key for notice in stored.notices] == ([key] if key else [])


def test_the_policy_may_refuse_and_then_nothing_is_stored(home):
    with open_engine(home, environ=KEYWORDS | {"JIYI_SECRETS__POLICY": "reject"}) as engine:
        with pytest.raises(InvalidInput) as refused:
            remember(engine, "密码是 hunter2")
        assert refused.value.key == "error.secret_refused"
        assert "hunter2" not in str(refused.value)
        assert engine.list().total == 0


def test_an_import_is_masked_as_well(engine, tmp_path):
    from engine.use_cases.import_memories import ImportRequest

    path = tmp_path / "graph.jsonl"
    entity = {"type": "entity", "name": "路由器", "entityType": "thing"}
    path.write_text(
        json.dumps(entity | {"observations": ["路由器密码是 hunter2"]}, ensure_ascii=False),
        encoding="utf-8",
    )
    engine.transfer.import_(ImportRequest(path), CALLER)
    texts = [memory.text for memory in engine.list().memories]
    assert texts and not any("hunter2" in text for text in texts)
    assert any("[masked]" in text for text in texts)


def test_an_export_holds_no_secret_either(engine, tmp_path):
    from engine.use_cases.export_memories import ExportRequest

    remember(engine, "路由器密码是 hunter2")
    path = tmp_path / "all.jsonl.gz"
    engine.transfer.export(ExportRequest(path, history=True), lambda *_: None)
    assert b"hunter2" not in gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_was_recalled_is_not_stored_again(engine, language):
    from engine.domain.prompts import PromptForm
    from engine.use_cases.pack import PackRequest

    for text in ("小雨喜欢徒步", "小雨在灯塔计划里管预算"):
        remember(engine, text)
    block = engine.pack(PackRequest("小雨", form=PromptForm(language=language))).text
    assert "徒步" in block
    for _ in range(5):
        with pytest.raises(InvalidInput) as refused:
            remember(engine, block)
        assert refused.value.key == "error.own_recall_block"
    assert engine.list().total == 2
    with pytest.raises(InvalidInput):
        engine.edit(EditRequest(1, {"text": block}), CALLER)
    assert engine.recall(RecallRequest("小雨")).hits


def test_a_fact_whose_predicate_names_a_secret_is_masked(engine):
    done = engine.facts.add(FactRequest("路由器", "密码", "hunter2"), CALLER)
    assert done.fact.object == "[masked]"
    assert done.notices[0].key == "secrets.masked.password"
    plain = engine.facts.add(FactRequest("小雨", "住在", "杭州"), CALLER)
    assert (plain.fact.object, plain.notices) == ("杭州", ())
