"""Writes to a store until it is killed, and says each thing once it is acknowledged.

A byte in a shared file is 1 while a write transaction is open. Every line on the output is
JSON: ``will`` before a change of an existing memory, ``did`` after any change.
"""

from __future__ import annotations

import itertools
import json
import mmap
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.bootstrap import Engine, open_engine
from engine.storage.database import Connection, Database
from engine.use_cases.edit import EditRequest
from tests.engine.use_cases.shortcuts import CALLER, HASHING, remember, remember_all

OUTSIDE, INSIDE = b"\0", b"\1"


def say(kind: str, memory_id: int, text: str, deleted: bool = False) -> None:
    print(json.dumps([kind, memory_id, text, deleted]), flush=True)


def mark_transactions(path: str) -> None:
    """Keep the byte up to date, from BEGIN until COMMIT has returned."""
    with Path(path).open("r+b") as file:
        marker = mmap.mmap(file.fileno(), 1)
    write = Database.write

    @contextmanager
    def marked(database: Database) -> Iterator[Connection]:
        try:
            with write(database) as connection:
                marker[0:1] = INSIDE
                yield connection
        finally:
            marker[0:1] = OUTSIDE

    Database.write = marked  # type: ignore[method-assign,assignment]


def add(engine: Engine, label: str) -> None:
    for number in itertools.count():
        texts = [f"{label} 第 {number} 批第 {place} 条记忆" for place in range(number % 3 * 8 + 1)]
        ids = remember_all(engine, texts) if len(texts) > 1 else [remember(engine, texts[0])]
        for memory_id, text in zip(ids, texts, strict=True):
            say("did", memory_id, text)


def change(engine: Engine, label: str) -> None:
    ids = remember_all(engine, (f"{label} 要改的第 {number} 条" for number in range(12)))
    texts = {memory_id: engine.get(memory_id).text for memory_id in ids}
    for memory_id, text in texts.items():
        say("did", memory_id, text)
    for number in itertools.count():
        memory_id = random.choice(ids)
        texts[memory_id] = f"{label} 改过 {number} 次的 {memory_id} 号"
        say("will", memory_id, texts[memory_id])
        engine.edit(EditRequest(memory_id, {"text": texts[memory_id]}), CALLER)
        say("did", memory_id, texts[memory_id])
        for deleted, deed in ((True, engine.delete), (False, engine.restore)):
            say("will", memory_id, texts[memory_id], deleted)
            deed(memory_id, CALLER)
            say("did", memory_id, texts[memory_id], deleted)


def main() -> None:
    home, marker, label, what = sys.argv[1:]
    mark_transactions(marker)
    engine = open_engine(home, environ=HASHING)
    {"add": add, "change": change}[what](engine, label)


if __name__ == "__main__":
    main()
