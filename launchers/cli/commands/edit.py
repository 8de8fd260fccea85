"""``jiyi edit``: some fields by option, or the text in an editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from engine.bootstrap import Engine
from engine.domain.errors import Conflict, InvalidInput, JiyiError
from engine.domain.memory import Memory
from engine.use_cases.edit import Edited, EditRequest
from launchers.cli.failures import FAILED
from launchers.cli.options import FieldOptions, GeneralOptions, option
from launchers.cli.output import Output
from launchers.cli.records import memory_record
from launchers.cli.requests import FIELD_NAMES, authored_fields
from launchers.cli.session import Session, open_session
from launchers.cli.streams import read_stdin
from launchers.cli.vectors import settled_vectors, tell_waiting


@dataclass(frozen=True, slots=True)
class ChangeOptions:
    """What an edit does beside setting fields."""

    text: Annotated[str | None, option("--text", key="new_text", metavar="TEXT|-")] = None
    clear: Annotated[list[str] | None, option("--clear", metavar="FIELD")] = None
    revision: Annotated[int | None, option("--revision", metavar="N")] = None


def edit_command(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="REF", help="cli.argument.ref")],
    general: GeneralOptions,
    given: FieldOptions,
    change: ChangeOptions,
) -> int:
    """Change what is named; without any option open the text in an editor."""
    session = open_session(context, general)
    with session.engine() as engine:
        fields = _changes(engine, given, change)
        if not fields and given.ttl is None:
            return _edit_by_hand(session, engine, ref, change.revision)
        request = EditRequest(ref, fields, revision=change.revision, ttl=given.ttl)
        _show(session.output, engine, engine.edit(request, session.reader()))
    return 0


def _changes(engine: Engine, given: FieldOptions, change: ChangeOptions) -> dict[str, object]:
    fields: dict[str, object] = {
        FIELD_NAMES.get(name, name): None
        for name in (name.strip().replace("-", "_") for name in change.clear or ())
    }
    fields |= authored_fields(engine, given)
    if change.text is not None:
        fields["text"] = read_stdin() if change.text == "-" else change.text
    return fields


def _show(output: Output, engine: Engine, edited: Edited) -> None:
    waiting = settled_vectors(engine) if edited.pending else 0
    memory = edited.memory
    if output.format == "json":
        now, zone = engine.context.clock.now(), engine.context.zone
        record = {
            "memory": memory_record(memory, now, zone),
            "changed": list(edited.changed),
            "pending": waiting > 0,
        }
        output.json(record)
    elif output.format == "tsv":
        output.tsv([(f"#{memory.id}", memory.revision, ",".join(edited.changed))])
    elif edited.changed:
        names = ", ".join(edited.changed)
        output.line(output.say("cli.edited", ref=f"#{memory.id}", fields=names))
    for notice in edited.notices:
        output.note(notice.key, **notice.params)
    if not edited.changed:
        output.note("cli.unchanged", ref=f"#{memory.id}")
    tell_waiting(output, waiting, edited.keywords_only)


def _edit_by_hand(session: Session, engine: Engine, ref: str, revision: int | None) -> int:
    memory = engine.get(ref)
    if memory.deleted_at is not None:
        raise Conflict("error.edit_in_trash", ref=f"#{memory.id}")
    command = editor_command(session.environ)
    draft = _draft(memory)
    _run_editor(command, draft)
    try:
        fields = {"text": _typed(draft, memory.text)}
        request = EditRequest(memory.id, fields, revision=revision or memory.revision)
        edited = engine.edit(request, session.reader())
    except JiyiError as error:
        session.output.error(error)
        session.output.note("cli.draft_kept", path=draft)
        return FAILED
    draft.unlink(missing_ok=True)
    _show(session.output, engine, edited)
    return 0


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """The user's editor as a command line; raises :class:`InvalidInput` when there is none."""
    wanted = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    if wanted:
        if os.name == "nt" and Path(wanted.strip('"')).exists():
            return [wanted.strip('"')]
        return shlex.split(wanted, posix=os.name != "nt")
    for name in ("notepad",) if os.name == "nt" else ("sensible-editor", "nano", "vi"):
        if shutil.which(name):
            return [name]
    raise InvalidInput("cli.no_editor")


def _draft(memory: Memory) -> Path:
    handle, name = tempfile.mkstemp(prefix=f"jiyi-{memory.id}-", suffix=".md")
    with os.fdopen(handle, "wb") as file:
        file.write(memory.text.encode("utf-8"))
    return Path(name)


def _run_editor(command: list[str], draft: Path) -> None:
    try:
        code = subprocess.run([*command, str(draft)], check=False).returncode
    except OSError as error:
        draft.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise InvalidInput("cli.editor_failed", command=command[0], reason=reason) from error
    if code != 0:
        raise InvalidInput("cli.editor_code", command=command[0], code=code, path=draft)


def _typed(draft: Path, before: str) -> str:
    """The text in the file, without the line end that editors add to the last line."""
    try:
        content = draft.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("cli.draft_encoding", position=error.start) from error
    if "\r\n" not in before:
        content = content.replace("\r\n", "\n")
    if not before.endswith("\n"):
        content = content.removesuffix("\n")
    return content
