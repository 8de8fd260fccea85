"""The log file: private, bounded, and never in the way."""

from __future__ import annotations

import logging
import os

import pytest

from engine.domain.errors import InvalidInput
from launchers import logs


@pytest.fixture(autouse=True)
def _closed_log():
    yield
    logs.release()


def test_nothing_is_made_before_the_first_entry(tmp_path):
    logs.configure(tmp_path / "home")
    assert not (tmp_path / "home").exists()
    logging.getLogger("jiyi.part").info("started 记忆")
    assert "started 记忆" in logs.log_path(tmp_path / "home").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="a user's folder is private by inheritance")
def test_file_and_folder_are_private(tmp_path):
    logs.configure(tmp_path / "home")
    logging.getLogger("jiyi.part").info("started")
    path = logs.log_path(tmp_path / "home")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_log_that_cannot_be_written_costs_the_entry_alone(tmp_path, capsys):
    (tmp_path / "logs").write_text("in the way", encoding="utf-8")
    logs.configure(tmp_path)
    logging.getLogger("jiyi.part").warning("lost")
    assert capsys.readouterr().err == ""


def test_an_unknown_level_counts_as_info(tmp_path):
    logs.configure(tmp_path, "chatty")
    assert logging.getLogger("jiyi").level == logging.INFO


def test_exceptions_are_logged_without_their_message(tmp_path):
    logs.configure(tmp_path)
    marker = "标记" + str(9)
    try:
        try:
            raise OSError(28, "No space", marker)
        except OSError as cause:
            raise ValueError(marker) from cause
    except ValueError:
        logging.getLogger("jiyi.part").exception("failed")
    written = logs.log_path(tmp_path).read_text(encoding="utf-8")
    assert "builtins.ValueError" in written
    assert "builtins.OSError (No space)" in written
    assert marker not in written


def test_warnings_are_shown_on_stderr_for_servers(tmp_path, capsys):
    logs.configure(tmp_path, warn_on_stderr=True)
    logging.getLogger("jiyi.part").warning("careful")
    logging.getLogger("jiyi.part").info("quiet")
    shown = capsys.readouterr().err
    assert "careful" in shown
    assert "quiet" not in shown


def test_errors_among_the_values_of_an_entry_are_named_and_not_quoted(tmp_path):
    logs.configure(tmp_path)
    marker, log = "标记" + str(9), logging.getLogger("jiyi.part")
    inner = InvalidInput("error.expected_text", name=marker)
    log.warning("refused: %s", InvalidInput("error.bad_item", item=3, reason=inner, path="/tmp/x"))
    log.warning("broken: %s", ValueError(marker))
    written = logs.log_path(tmp_path).read_text(encoding="utf-8")
    assert "error.bad_item (item=3, path='/tmp/x')" in written
    assert "broken: ValueError" in written
    assert marker not in written


def test_what_another_handler_made_of_an_exception_is_not_repeated(tmp_path):
    logs.configure(tmp_path)
    marker, log = "标记" + str(9), logging.getLogger("jiyi.part")
    record = log.makeRecord(log.name, logging.ERROR, "", 1, "failed", (), None)
    record.exc_text = marker
    log.handle(record)
    assert marker not in logs.log_path(tmp_path).read_text(encoding="utf-8")
