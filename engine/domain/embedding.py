"""Identity of an embedding space: vectors of two spaces are never compared."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class SpaceIdentity:
    """Everything that changes what a vector means.

    ``recipe`` names what text is embedded and how it is cut (version it on change);
    ``query_prefix`` and ``passage_prefix`` are put in front by the model client;
    ``transform`` is the version of what is applied to raw vectors when indexing.
    """

    provider: str
    model: str
    revision: str
    dims: int
    query_prefix: str = ""
    passage_prefix: str = ""
    transform: str = "none"
    recipe: str = "text-1"

    @property
    def key(self) -> str:
        """A canonical text, equal for equal identities."""
        return _key(self)

    @staticmethod
    def from_key(key: str) -> SpaceIdentity:
        """The identity that a :attr:`key` was made of."""
        return SpaceIdentity(**json.loads(key))


@lru_cache(maxsize=64)
def _key(identity: SpaceIdentity) -> str:
    return json.dumps(asdict(identity), sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Where a space's cosines turn from unrelated to related: the middle and the slope of a
    logistic curve, measured on labelled pairs. Every model spreads its cosines differently."""

    middle: float
    slope: float

    def related(self, cosine: float) -> float:
        """Value in (0,1) that rises with the chance that the cosine means related texts."""
        return 1.0 / (1.0 + math.exp(-(cosine - self.middle) * self.slope))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of one space at which two texts are taken for more than related.

    Between two stored texts: ``near_duplicate`` (the same statement), ``conflict`` (about the
    same thing), ``reflect`` (of one theme). Between a query and a stored text: ``pin`` (a pinned
    memory belongs to the query), ``floor`` (below it nothing is called a match).
    """

    near_duplicate: float
    conflict: float
    reflect: float
    pin: float
    floor: float


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """State of the embedding model as shown to people.

    ``state`` is ``ready``, ``loading``, ``idle`` (not loaded, loads when needed),
    ``unavailable`` or ``off``. ``reason_key`` with ``reason_params`` is a catalogue message.
    """

    state: str
    provider: str
    model: str = ""
    dims: int = 0
    reason_key: str = ""
    reason_params: tuple[tuple[str, str], ...] = ()
