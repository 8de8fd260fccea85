"""Archives of every version of the format come in, whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.domain.fact import FactQuery
from engine.storage import transfer
from engine.use_cases.inspect_file import inspect_file
from tests.engine.use_cases.archives import bring_in

ARCHIVES = sorted((Path(__file__).parent / "archives").glob("*.jsonl"))


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.stem)
def test_an_archive_of_an_earlier_version_comes_in(engine, path):
    assert inspect_file(path).complete
    report = bring_in(engine, path)
    assert (report.new, report.bad, report.links, report.facts) == (3, 0, 1, 1)
    assert report.pending == 0
    kept = {one.text: one for one in engine.list().memories}
    tea, choice = kept["小雨喜欢绿茶"], kept["We chose SQLite because it is one file"]
    assert (tea.workspace, tea.tags, tea.participants) == ("项目", ("茶",), ("小雨",))
    assert (choice.pinned, choice.event_time) == (True, 1.7e9)
    assert choice.details == '{"what": "SQLite", "why": "one file"}'
    assert kept["Kurz gültig"].expires_at == 2e9
    assert tea.created_at == 1.8e9
    assert engine.facts.query(FactQuery("林小雨"))[0].memory_id == tea.id
    with engine.context.database.read() as connection:
        assert len(list(transfer.atoms(connection))) == 2
