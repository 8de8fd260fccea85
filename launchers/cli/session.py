"""One run of a command: its options, its output, and the engine it opens."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from engine.config.home import resolve_home
from engine.domain.caller import Caller
from engine.domain.memory import GLOBAL_WORKSPACE
from engine.domain.scope import Scope
from engine.domain.vocabulary import SCOPES, check
from launchers.cli.options import GeneralOptions
from launchers.cli.output import Output, chosen_format
from launchers.cli.streams import native_path

if TYPE_CHECKING:
    from engine.bootstrap import Engine

ACTOR = "cli"
STORE_NAME = "jiyi.db"
_GENERAL = frozenset(field.name for field in fields(GeneralOptions))


@dataclass(frozen=True, slots=True)
class Start:
    """What is known before the command line is parsed."""

    environ: Mapping[str, str]
    language: str


@dataclass(frozen=True, slots=True)
class Session:
    """What a command works with."""

    options: GeneralOptions
    environ: Mapping[str, str]
    output: Output

    @property
    def home(self) -> Path:
        """The home folder; nothing is created."""
        return resolve_home(self.home_option, self.environ)

    @property
    def home_option(self) -> str | None:
        """``--home`` as typed."""
        return native_path(self.options.home) if self.options.home else None

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """The store of this run, open for the length of the block."""
        from engine.bootstrap import open_engine
        from launchers import logs

        with ExitStack() as ending:
            # What closing the store has to say still goes into the log.
            ending.callback(logs.release)
            engine = ending.enter_context(open_engine(self.home, environ=self.environ))
            logs.configure(engine.context.home, engine.context.settings.log.level)
            for notice in engine.notices:
                self.output.note(notice.key, **notice.params)
            yield engine

    def caller(self, engine: Engine, session_id: str | None = None) -> Caller:
        """Who writes, and into which workspace: the named one, else the project's."""
        workspace = self._named_workspace() or engine.workspace_of(_folder(), adopt=True)
        return Caller(ACTOR, workspace, session_id)

    def reader(self) -> Caller:
        """Who changes memories that already have a workspace."""
        return Caller(ACTOR, self._named_workspace())

    def scope(self, engine: Engine) -> Scope:
        """Where to look: everywhere; with ``--workspace`` alone in just that one."""
        named, wanted = self.options.workspace, self.options.scope
        if wanted is None:
            return Scope("workspace", named, exact=True) if named else Scope()
        kind = check("--scope", wanted, SCOPES)
        return Scope() if kind == "all" else Scope(kind, self.current_workspace(engine))

    def current_workspace(self, engine: Engine) -> str:
        """The named workspace, else that of the project around the current folder."""
        return self._named_workspace() or engine.workspace_of(_folder()) or GLOBAL_WORKSPACE

    def _named_workspace(self) -> str | None:
        return self.options.workspace or self.environ.get("JIYI_WORKSPACE", "").strip() or None


def open_session(context: typer.Context, options: GeneralOptions) -> Session:
    """The session of a command; options given before its name hold unless repeated after."""
    start: Start = context.find_root().obj
    before = context.find_root().params
    given = {name: value for name, value in before.items() if value and name in _GENERAL}
    for field in fields(options):
        given[field.name] = getattr(options, field.name) or given.get(field.name, field.default)
    general = GeneralOptions(**given)
    output = Output(chosen_format(general.format, general.json), start.language)
    return Session(general, start.environ, output)


def _folder() -> Path:
    # The folder of a shell may have been deleted under it.
    try:
        return Path(os.getcwd())
    except OSError:
        return Path.home()
