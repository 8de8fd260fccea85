"""The settings in force now, in a process that runs for days while the file changes."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from engine.config.environment import read_environment
from engine.config.file import FILE_NAME, parse_config, read_bytes
from engine.config.layer import Layer
from engine.config.schema import Settings, assembled, declared
from engine.domain.clock import Clock, SystemClock
from engine.domain.errors import ConfigInvalid

# File times may be as coarse as two seconds (FAT), so a younger file can change again
# without its time changing.
SETTLED_AFTER_S = 2.0

Signature = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class _Snapshot:
    signature: Signature
    settled: bool
    content: bytes | None
    file: Layer
    settings: Settings
    sources: Mapping[str, str]
    version: str


class LiveSettings:
    """Settings of a home folder: defaults, then ``config.yaml``, then the environment.

    Each call looks whether the file changed (one ``stat``) and reads it again if so. A file
    that cannot be used keeps the last good settings; before there are any, the defaults and
    the environment hold. Thread-safe.
    """

    def __init__(self, home: Path, environ: Mapping[str, str], clock: Clock | None = None) -> None:
        self.path = home / FILE_NAME
        self._environ = dict(environ)
        self._environment = read_environment(self._environ)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._snapshot: _Snapshot | None = None

    def current(self) -> Settings:
        """The settings in force now."""
        return self._fresh().settings

    @property
    def problem(self) -> ConfigInvalid | None:
        """Why the file or a variable is not used; ``None`` when all is well."""
        return self._fresh().file.problem or self._environment.problem

    @property
    def warnings(self) -> tuple[ConfigInvalid, ...]:
        """Unknown names and missing ``${NAME}`` variables; everything else is in force."""
        return self._fresh().file.warnings + self._environment.warnings

    def sources(self) -> Mapping[str, str]:
        """Where each setting's value comes from: ``default``, ``file`` or ``env``."""
        return self._fresh().sources

    def version(self) -> str:
        """A short hash, equal for equal effective values."""
        return self._fresh().version

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment the settings were made with."""
        return self._environ

    def _fresh(self) -> _Snapshot:
        signature = _signature(self.path)
        snapshot = self._snapshot
        if snapshot and snapshot.settled and snapshot.signature == signature:
            return snapshot
        with self._lock:
            self._snapshot = self._reread(self._snapshot)
            return self._snapshot

    def _reread(self, last: _Snapshot | None) -> _Snapshot:
        signature = _signature(self.path)
        file = last.file if last else Layer()
        try:
            content = read_bytes(self.path)
        except ConfigInvalid as error:
            return self._made(signature, False, None, replace(file, problem=error))
        settled = self._is_settled(signature)
        if last and content is not None and content == last.content:
            return replace(last, signature=signature, settled=settled)
        return self._made(signature, settled, content, self._parsed(content, file))

    def _is_settled(self, signature: Signature) -> bool:
        if signature is None:
            return True
        newest_ns = max(signature[:2])
        return abs(self._clock.now() - newest_ns / 1e9) >= SETTLED_AFTER_S

    def _parsed(self, content: bytes | None, last: Layer) -> Layer:
        if content is None:
            return Layer()
        try:
            return parse_config(content, self.path, self._environ)
        except ConfigInvalid as error:
            return Layer(last.values, problem=error)

    def _made(
        self, signature: Signature, settled: bool, content: bytes | None, file: Layer
    ) -> _Snapshot:
        environment = self._environment.values
        settings = assembled({**file.values, **environment})
        sources = {
            key: "env" if key in environment else "file" if key in file.values else "default"
            for key in declared()
        }
        return _Snapshot(
            signature, settled, content, file, settings, MappingProxyType(sources), _hash(settings)
        )


def _signature(path: Path) -> Signature:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def _hash(settings: Settings) -> str:
    canonical = json.dumps(settings.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]
