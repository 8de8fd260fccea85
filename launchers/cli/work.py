"""Progress of long work, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from launchers.cli.output import Output


@contextmanager
def progress_bars(output: Output) -> Iterator[Callable[[str, str, int, int], None]]:
    """One bar for each stage of each named piece of work, if standard error is a terminal.

    What is yielded is told the name, the stage (a message ``cli.work.<stage>``), how much is
    done and of how much.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[tuple[str, str], TaskID] = {}
    shown = sys.stderr is not None and sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=not shown) as progress:

        def show(name: str, stage: str, done: int, total: int) -> None:
            if (name, stage) not in tasks:
                label = output.say(f"cli.work.{stage}", name=name)
                tasks[name, stage] = progress.add_task(label, total=total)
            progress.update(tasks[name, stage], completed=done, total=total)

        yield show
