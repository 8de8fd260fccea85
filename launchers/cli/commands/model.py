"""``jiyi model``: the embedding model, changing and testing it, and giving memories vectors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.errors import JiyiError
from engine.domain.vocabulary import check
from engine.use_cases.models import (
    Chosen,
    EmbeddedAll,
    ModelChoice,
    ModelReport,
    ModelWish,
    remaining,
)
from launchers.cli.failures import FAILED, INTERRUPTED, Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Column, Output
from launchers.cli.session import open_session

ACTIONS = ("status", "list", "use", "test", "fetch", "embed")
_TRY_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """Where a model is, for those that are not built in."""

    base_url: Annotated[str, option("--base-url", metavar="URL")] = ""
    model: Annotated[str, option("--model", metavar="MODEL")] = ""
    api_key_env: Annotated[str, option("--api-key-env", metavar="NAME")] = ""


def model_command(
    context: typer.Context,
    general: GeneralOptions,
    provider: ProviderOptions,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[status|list|use|test|fetch|embed]", help="cli.argument.model_action"
        ),
    ] = "status",
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="cli.argument.model_name")
    ] = None,
    wait: Annotated[bool | None, option("--wait/--no-wait", key="wait")] = None,
) -> int:
    """Show the embedding model, choose another, test it, get the better one, or embed."""
    session = open_session(context, general)
    output, chosen = session.output, check("action", action, ACTIONS)
    if name is not None and chosen != "use":
        raise Misuse("cli.usage.surplus", words=name)
    with session.engine() as engine:
        if chosen == "list":
            return _list(output, engine)
        if chosen == "use":
            wish = ModelWish(name or "", provider.base_url, provider.model, provider.api_key_env)
            return _use(output, engine, wish, wait=wait)
        if chosen == "test":
            return _test(output, engine)
        if chosen == "fetch":
            _fetch(output, engine)
        run = _embed(output, engine) if chosen == "embed" else EmbeddedAll(0)
        report = engine.model_report()
    _show(output, report)
    if chosen != "embed":
        return 0
    return _ended(output, run, report) or (FAILED if remaining(report) else 0)


def _fetch(output: Output, engine: Engine) -> None:
    output.note("cli.model.fetching")
    fetched = engine.fetch_model()
    key = "cli.model.fetched" if fetched.downloaded else "cli.model.here"
    output.note(key, path=fetched.path)


def _list(output: Output, engine: Engine) -> int:
    choices = engine.model_choices()
    if output.format == "json":
        output.json([_choice_record(output, choice) for choice in choices])
        return 0
    names = ("name", "title", "model", "dims", "needs")
    rows = [
        (
            "*" if choice.is_chosen else "",
            choice.name,
            choice.title or output.say(f"cli.choice.title.{choice.name}"),
            choice.model or "-",
            choice.dims or "-",
            _needs(output, choice),
        )
        for choice in choices
    ]
    if output.format == "tsv":
        output.tsv(rows)
        return 0
    headings = [output.say(f"cli.choice.column.{name}") for name in names]
    wrapping = (headings[1], headings[-1])
    output.table([Column(text, wraps=text in wrapping) for text in ("", *headings)], rows)
    return 0


def _choice_record(output: Output, choice: ModelChoice) -> dict[str, object]:
    reason = output.sentence(choice.reason) if choice.reason else ""
    return asdict(replace(choice, reason=None)) | {"reason": reason}


def _needs(output: Output, choice: ModelChoice) -> str:
    if choice.reason is not None:
        return output.sentence(choice.reason)
    if choice.needs_key:
        return output.say("cli.choice.needs.key")
    if choice.base_url:
        return output.say("cli.choice.needs.server", address=choice.base_url)
    return output.say("cli.choice.needs.nothing")


def _use(output: Output, engine: Engine, wish: ModelWish, *, wait: bool | None) -> int:
    if not wish.name:
        names = ", ".join(choice.name for choice in engine.model_choices())
        raise Misuse("cli.choice.use_needs_name", allowed=names)
    chosen = engine.choose_model(wish)
    output.note("cli.choice.chosen", name=wish.name)
    in_force = _tell_what_wins(output, engine, chosen)
    report = engine.model_report()
    run = EmbeddedAll(0)
    if in_force and report.chosen.state != "off":
        _tell_meanwhile(output, report)
        if wait or (wait is None and _on_terminal()):
            run = _embed(output, engine)
    report = engine.model_report()
    if output.format == "json":
        output.json(_report_record(report) | asdict(chosen) | {"in_force": in_force})
    if not in_force:
        return FAILED if engine.context.live.problem else 0
    return _ended(output, run, report)


def _tell_what_wins(output: Output, engine: Engine, chosen: Chosen) -> bool:
    """Say what keeps the new settings from acting here; tell whether they do."""
    for variable in chosen.overridden_by:
        output.note("cli.set_overridden", variable=variable)
    problem = engine.context.live.problem
    if problem is not None:
        output.note("cli.choice.not_in_force", reason=output.sentence(problem))
    return problem is None and not chosen.overridden_by


def _tell_meanwhile(output: Output, report: ModelReport) -> None:
    if not remaining(report):
        return
    if report.serving and report.serving != report.chosen.model:
        output.note("cli.choice.keeps_answering", serving=report.serving)
    else:
        output.note("cli.choice.words_meanwhile")


def _embed(output: Output, engine: Engine) -> EmbeddedAll:
    """Embed until nothing waits; Ctrl+C ends it after what is stored."""
    with _bar(output) as show:
        try:
            return engine.embed_all(show)
        except KeyboardInterrupt:
            return EmbeddedAll(0, stopped=True)


@contextmanager
def _bar(output: Output) -> Iterator[Callable[[int, int], bool]]:
    """A progress bar on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not _on_terminal()) as progress:
        task = progress.add_task(output.say("cli.choice.progress"), total=None)

        def show(done: int, total: int) -> bool:
            progress.update(task, completed=done, total=total)
            return True

        yield show


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _ended(output: Output, run: EmbeddedAll, report: ModelReport) -> int:
    """Say how the work ended and what is left; the exit code that it means."""
    left = remaining(report)
    if run.stopped:
        output.note("cli.choice.stopped", embedded=report.embedded, live=report.live)
    if run.reason is not None:
        output.note("cli.choice.works_not", reason=output.sentence(run.reason))
    if report.failed:
        output.note("cli.choice.gave_up", count=report.failed)
    if report.chosen.state == "off":
        output.note("cli.choice.off")
    elif left:
        output.note("cli.choice.goes_on", count=left)
    elif not report.failed:
        output.note("cli.choice.complete")
    if run.stopped:
        return INTERRUPTED
    return FAILED if run.reason is not None else 0


def _test(output: Output, engine: Engine) -> int:
    tried = engine.try_model(wait_s=_TRY_WAIT_S)
    problem = output.sentence(tried.problem) if tried.problem else ""
    notice = output.sentence(tried.notice) if tried.notice else ""
    ms = round(tried.latency_ms, 1)
    if output.format == "json":
        record = asdict(replace(tried, latency_ms=ms, problem=None, notice=None))
        output.json(record | {"works": not problem, "problem": problem, "notice": notice})
    elif output.format == "tsv":
        output.tsv([("failed" if problem else "ok", tried.model, tried.dims, ms, problem)])
    elif not problem:
        output.line(output.say("cli.choice.works", model=tried.model, dims=tried.dims, ms=ms))
    if notice:
        output.note("cli.choice.notice", notice=notice)
    if problem:
        output.note("cli.choice.works_not", reason=problem)
    return FAILED if problem else 0


def _report_record(report: ModelReport) -> dict[str, object]:
    return asdict(report) | {"remaining": remaining(report)}


def _show(output: Output, report: ModelReport) -> None:
    if output.format == "json":
        output.json(_report_record(report))
        return
    rows = [
        ("chosen", f"{report.chosen.model or '-'} ({report.chosen.provider})"),
        ("state", _state(output, report)),
        ("dims", str(report.chosen.dims)),
        ("serving", report.serving or "-"),
        ("embedded", f"{report.embedded} / {report.live}"),
        ("waiting", str(report.pending)),
        ("failed", str(report.failed)),
    ]
    if output.format == "tsv":
        output.tsv(rows)
    else:
        columns = (Column(""), Column("", wraps=True))
        output.table(columns, [(output.say(f"cli.model.{name}"), value) for name, value in rows])
    if report.better_available:
        output.note("cli.model.better")


def _state(output: Output, report: ModelReport) -> str:
    state = output.say(f"doctor.state.{report.chosen.state}")
    if not report.chosen.reason_key:
        return state
    reason = JiyiError(report.chosen.reason_key, **dict(report.chosen.reason_params))
    return f"{state}: {output.sentence(reason)}"
