"""``jiyi demo``: sample memories, recalled by meaning, in a store of their own."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from engine.bootstrap import Engine, open_engine
from engine.domain.caller import Caller
from engine.domain.times import parse_instant
from engine.use_cases.memorize import MemorizeRequest
from engine.use_cases.recall import RecallRequest, RecallResult
from launchers.cli.commands.recall import shown_strength, tell_degraded
from launchers.cli.failures import FAILED, Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Output
from launchers.cli.records import preview
from launchers.cli.session import STORE_NAME, open_session
from launchers.cli.streams import native_path
from launchers.clients.command import jiyi_command

LANGUAGES = ("zh", "en")
_PREVIEW_CHARS = 160
_MODEL_WAIT_S = "60"


@dataclass(frozen=True, slots=True)
class Question:
    """A sample question and the memory that answers it (language, place in its file).

    ``style`` is ``paraphrase``, ``exact`` or ``cross`` (answered in the other language).
    """

    text: str
    style: str
    answer: tuple[str, int]


def demo_command(
    context: typer.Context,
    general: GeneralOptions,
    keep: Annotated[str | None, option("--keep", metavar="DIR")] = None,
) -> int:
    """Memorize sample conversations and recall them, without touching the user's store."""
    session = open_session(context, general)
    with _demo_home(keep) as home, open_engine(home, environ=_environ(session.environ)) as engine:
        output = session.output
        ids = _memorize(output, engine)
        outcomes = [_ask_all(output, engine, ids, language) for language in LANGUAGES]
    exact_works = all(outcomes)
    output.line(output.say("cli.demo.kept", path=home) if keep else output.say("cli.demo.gone"))
    _next_steps(output)
    if not exact_works:
        output.note("cli.demo.failed")
    return 0 if exact_works else FAILED


def samples(language: str) -> list[dict[str, object]]:
    """The sample memories of a language: authored fields, times as ISO 8601."""
    content = (files("assets") / "samples" / f"conversation.{language}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in content.splitlines() if line.strip()]


def questions(language: str) -> list[Question]:
    """The sample questions of a language."""
    content = (files("assets") / "samples" / f"questions.{language}.json").read_text("utf-8")
    return [
        Question(
            item["text"],
            item["style"],
            (item.get("memory_language", language), int(item["memory"])),
        )
        for item in json.loads(content)["questions"]
    ]


@contextmanager
def _demo_home(keep: str | None) -> Iterator[Path]:
    if keep is not None:
        home = Path(native_path(keep)).expanduser().absolute()
        if (home / STORE_NAME).exists():
            raise Misuse("cli.demo.not_empty", path=home)
        yield home
        return
    # On Windows a file just closed may still be held for a moment by a virus scanner.
    with tempfile.TemporaryDirectory(prefix="jiyi-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's settings, and patience: the demonstration waits for the model to load."""
    return {"JIYI_EMBEDDING__WAIT_S": _MODEL_WAIT_S, **environ}


def _memorize(output: Output, engine: Engine) -> dict[tuple[str, int], int]:
    started = time.perf_counter()
    places, requests = [], []
    for language in LANGUAGES:
        for place, sample in enumerate(samples(language)):
            places.append((language, place))
            requests.append(MemorizeRequest(_fields(sample), workspace="demo"))
    stored = engine.memorize_many(requests, Caller("cli"))
    elapsed_s = time.perf_counter() - started
    output.line(output.say("cli.demo.stored", count=len(stored), seconds=f"{elapsed_s:.1f}"))
    return {place: item.memory.id for place, item in zip(places, stored, strict=True)}


def _fields(sample: Mapping[str, object]) -> dict[str, object]:
    fields = dict(sample)
    if isinstance(fields.get("event_time"), str):
        fields["event_time"] = parse_instant(str(fields["event_time"]), None)
    return fields


def _ask_all(
    output: Output, engine: Engine, ids: Mapping[tuple[str, int], int], language: str
) -> bool:
    """Ask and show; whether every exact term found its memory."""
    output.line()
    output.line(output.say(f"cli.demo.questions_{language}"))
    exact_works = True
    for number, question in enumerate(questions(language)):
        started = time.perf_counter()
        result = engine.recall(RecallRequest(question.text, k=3))
        elapsed_ms = (time.perf_counter() - started) * 1000
        if number == 0:
            tell_degraded(output, result)
        _show_answer(output, question, result, elapsed_ms)
        found = ids[question.answer] in [hit.memory.id for hit in result.hits]
        exact_works = exact_works and (found or question.style != "exact")
    return exact_works


def _show_answer(
    output: Output, question: Question, result: RecallResult, elapsed_ms: float
) -> None:
    output.line(f"  ? {question.text}")
    if not result.hits:
        output.line(f"    {output.say('cli.nothing')}")
        return
    best = result.hits[0]
    answer = preview(best.memory.text, _PREVIEW_CHARS, output)
    output.line(f"    #{best.memory.id}  {answer}")
    match = shown_strength(output, best)
    output.line("    " + output.say("cli.demo.match", strength=match, ms=f"{elapsed_ms:.0f}"))


def _next_steps(output: Output) -> None:
    command = jiyi_command()
    shown = " ".join(f'"{part}"' if " " in part else part for part in command)
    snippet = {"mcpServers": {"jiyi": {"command": command[0], "args": [*command[1:], "mcp"]}}}
    output.line()
    output.line(output.say("cli.demo.next"))
    for step in ("remember", "recall", "claude", "others", "doctor"):
        output.line(
            "  "
            + output.say(
                f"cli.demo.next_{step}",
                command=shown,
                snippet=json.dumps(snippet, ensure_ascii=False),
            )
        )
