"""``jiyi pin``, ``archive``, ``tag`` and ``bump``: what becomes of memories without editing
them."""

from __future__ import annotations

from typing import Annotated

import typer

from engine.domain.errors import JiyiError
from engine.use_cases.bulk import BulkDone, BulkRequest
from launchers.cli.failures import FAILED, Misuse
from launchers.cli.options import GeneralOptions, option
from launchers.cli.output import Output
from launchers.cli.session import Session, open_session

Refs = Annotated[list[str], typer.Argument(metavar="REF...", help="cli.argument.refs")]
Off = Annotated[bool, option("--off")]


def pin_command(
    context: typer.Context, refs: Refs, general: GeneralOptions, off: Off = False
) -> int:
    """Pin memories, or unpin them."""
    request = BulkRequest(refs, "unpin" if off else "pin")
    return _change(open_session(context, general), request, "cli.pin", off=off)


def archive_command(
    context: typer.Context, refs: Refs, general: GeneralOptions, off: Off = False
) -> int:
    """Put memories aside, or bring them back."""
    request = BulkRequest(refs, "unarchive" if off else "archive")
    return _change(open_session(context, general), request, "cli.archive", off=off)


def tag_command(
    context: typer.Context,
    refs: Refs,
    general: GeneralOptions,
    add: Annotated[list[str] | None, option("--add", key="add_tag", metavar="TAG")] = None,
    remove: Annotated[list[str] | None, option("--remove", key="remove_tag", metavar="TAG")] = None,
) -> int:
    """Add and remove tags."""
    if not (add or remove):
        raise Misuse("cli.tag.nothing")
    request = BulkRequest(refs, "edit", add_tags=tuple(add or ()), remove_tags=tuple(remove or ()))
    return _change(open_session(context, general), request, "cli.tag", off=False)


def bump_command(context: typer.Context, refs: Refs, general: GeneralOptions) -> int:
    """Let the salience of memories grow."""
    session, failures = open_session(context, general), 0
    output, records = session.output, []
    with session.engine() as engine:
        for ref in refs:
            try:
                done = engine.upkeep.reinforce(ref, session.reader())
            except JiyiError as error:
                output.error(error)
                failures += 1
                continue
            record = {"id": done.memory.id, "before": done.before, "after": done.after}
            records.append(record)
            _show_bump(output, record)
    if output.format == "json":
        output.json({"results": records, "failed": failures})
    return FAILED if failures else 0


def _show_bump(output: Output, record: dict[str, float]) -> None:
    ref, before, after = f"#{record['id']}", record["before"], record["after"]
    if output.format == "tsv":
        output.tsv([(ref, f"{before:.3f}", f"{after:.3f}")])
    elif output.format == "table":
        key = "cli.bump.done" if after != before else "cli.bump.at_top"
        output.line(output.say(key, ref=ref, before=f"{before:.2f}", after=f"{after:.2f}"))


def _change(session: Session, request: BulkRequest, key: str, *, off: bool) -> int:
    with session.engine() as engine:
        done = engine.bulk.change(request, session.reader())
    output = session.output
    if output.format == "json":
        output.json(_record(output, done))
    elif output.format == "tsv":
        output.tsv((f"#{memory_id}", request.action) for memory_id in done.changed)
    elif done.changed:
        refs = ", ".join(f"#{memory_id}" for memory_id in done.changed)
        output.line(output.say(f"{key}.undone" if off else f"{key}.done", refs=refs))
    if output.format == "table" and done.unchanged:
        output.line(output.say("cli.keeping.unchanged", count=done.unchanged))
    for _, error in done.failed:
        output.error(error)
    return FAILED if done.failed else 0


def _record(output: Output, done: BulkDone) -> dict[str, object]:
    return {
        "changed": list(done.changed),
        "unchanged": done.unchanged,
        "failed": [{"ref": ref, "error": output.sentence(error)} for ref, error in done.failed],
        "group": done.group_uid,
    }
