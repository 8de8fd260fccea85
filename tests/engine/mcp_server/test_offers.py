"""Resources, prompts, completions, progress, figures of the server."""

from __future__ import annotations

import json

import pytest
from mcp import MCPError

from engine.bootstrap import open_engine
from engine.domain.caller import Caller
from engine.use_cases.judge import JudgeRequest
from tests.engine.mcp_server.talking import talk

TOOLS = ["core", "manage", "admin", "links"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_resources_are_listed_and_read_within_the_budget(tmp_path, mode):
    with talk(tmp_path, mode=mode) as one:
        one.ask("memorize", text="小明住在杭州 " + "长" * 9_000)
        listed = one.run(lambda client: client.list_resources()).resources
        assert [resource.uri for resource in listed] == ["briefing://current"]
        templates = one.run(lambda client: client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == [
            "memory://{id}",
            "graph://{node}",
        ]
        for uri in ("memory://1", "memory://%231", "briefing://current", "graph://小明"):
            text = one.read(uri)
            assert "杭州" in text and len(text.encode()) <= 9_000
        for uri in ("memory://99", "graph://nobody", "other://1"):
            with pytest.raises(MCPError) as refused:
                one.read(uri)
            assert uri.split("//")[1] in str(refused.value) and "\n" not in str(refused.value)


def test_prompts_say_what_to_do_and_take_their_arguments(tmp_path):
    with talk(tmp_path) as one:
        one.ask("memorize", text="the lighthouse is by the sea")
        names = [prompt.name for prompt in one.run(lambda c: c.list_prompts()).prompts]
        assert names == ["save_what_matters", "start_of_session", "weekly_review"]
        assert "tea" in one.prompt("save_what_matters", topic="tea")
        assert "lighthouse" in one.prompt("start_of_session")
        assert "workspace=work" in one.prompt("weekly_review", workspace="work")
        with pytest.raises(MCPError, match="weekly_review"):
            one.prompt("nothing")
    with talk(tmp_path, JIYI_LANGUAGE="zh") as one:
        assert "通读" in one.prompt("save_what_matters")


def test_arguments_are_completed_from_the_store(tmp_path):
    with talk(tmp_path) as one:
        one.ask("memorize", text="Kubernetes runs the lighthouse", tags=["deploy", "redeploy"])
        assert one.complete("weekly_review", "tag", "dep") == ["deploy", "redeploy"]
        assert one.complete("weekly_review", "workspace", "GLO") == ["global"]
        assert one.complete("weekly_review", "unknown", "x") == []


def test_calls_errors_and_recalls_are_counted_for_this_server_alone(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        one.ask("memorize", text="the lighthouse is by the sea")
        one.ask("recall", query="lighthouse")
        one.refused("get_memory", id=99)
        found = json.loads(one.ask("metrics", format="json"))
        assert found["operations"]["get_memory"] == {"calls": 1, "errors": 1}
        assert found["operations"]["recall"] == {"calls": 1, "errors": 0}
        assert found["recalls"] == 1 and found["recall_ms"]["max_ms"] > 0
        assert found["memories"] == 1 and found["stages_ms"]
    with talk(tmp_path, toolsets=TOOLS) as one:
        assert json.loads(one.ask("metrics", format="json"))["operations"] == {}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_long_work_tells_how_far_it_is(tmp_path, mode):
    heard: list[tuple[float, float | None]] = []

    async def hear(done, total, message):
        heard.append((done, total))

    with talk(tmp_path, toolsets=TOOLS, mode=mode) as one:
        one.ask("memorize", text="the lighthouse is by the sea")
        one.run(lambda c: c.call_tool("find_conflicts", {}, progress_callback=hear))
    assert heard == [(1, 1)]


def test_recall_is_measured_on_judgments(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        assert "no questions" in one.refused("evaluate_recall")
        one.ask("memorize", text="the lighthouse is by the sea")
    with open_engine(tmp_path, environ={"JIYI_EMBEDDING__PROVIDER": "hashing"}) as engine:
        engine.judge(JudgeRequest("lighthouse", ("1",)), Caller("test"))
    with talk(tmp_path, toolsets=TOOLS) as one:
        found = json.loads(one.ask("evaluate_recall", format="json"))["sets"]
        assert found["judgments"]["n"] == 1 and found["judgments"]["recall@5"] == 1.0


def test_session_notes_are_measured_and_stay_in_their_folder(tmp_path):
    with talk(tmp_path, toolsets=TOOLS) as one:
        assert "session.md" in one.refused("session_check")
        notes = tmp_path / "session.md"
        notes.write_text("# today\n", encoding="utf-8")
        assert "short enough" in one.ask("session_check")
        notes.write_text("字" * 3_000, encoding="utf-8")
        assert "too long" in one.ask("session_check")
        assert notes.read_text(encoding="utf-8") == "字" * 3_000
        for outside in ("../other.md", "/etc/passwd", "config.yaml"):
            assert "inside" in one.refused("session_check", name=outside)
