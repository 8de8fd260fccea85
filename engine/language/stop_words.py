"""Function words: too common to search for."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

LANGUAGES = ("zh", "en", "ja", "ko")


@lru_cache(maxsize=1)
def load_stop_words() -> frozenset[str]:
    """The folded function words of all languages together."""
    folder = files("assets") / "language" / "stopwords"
    texts = ((folder / f"{name}.txt").read_text(encoding="utf-8") for name in LANGUAGES)
    return frozenset(word for text in texts for word in _words(text))


def _words(text: str) -> list[str]:
    lines = (line.partition("#")[0] for line in text.splitlines())
    return [word for line in lines for word in line.split()]
