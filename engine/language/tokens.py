"""How many tokens a text costs a language model, estimated without one."""

from __future__ import annotations

import math
import re
from functools import lru_cache

ASCII_TOKENS = 0.25
WIDE_TOKENS = 1.5
EMOJI_TOKENS = 2.0
MOST_TOKENS = EMOJI_TOKENS
"""No character costs more."""
OTHER_TOKENS = 0.5

# Han, kana, hangul, bopomofo, their punctuation and full-width forms.
_WIDE = (
    "\u1100-\u11ff\u2e80-\u303f\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff60\uff65-\uffdc"
    "\uffe0-\uffe6\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
_PICTURE = (
    "\u231a\u231b\u23e9-\u23fa\u25fd\u25fe\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)


def estimate_tokens(text: str) -> int:
    """Tokens of ``text``: per character 0.25 for ASCII, 1.5 for CJK, kana, hangul and full
    width, 0.5 for other scripts, and 2.0 for a whole emoji sequence; rounded to the nearest,
    a half upwards, and at least 1 unless the text is empty."""
    if not text:
        return 0
    total = ASCII_TOKENS * len(text) if text.isascii() else _mixed(text)
    return max(1, math.floor(total + 0.5))


def _mixed(text: str) -> float:
    rest = _wide_pattern().sub("", text)
    total = WIDE_TOKENS * (len(text) - len(rest))
    if not rest.isascii():
        rest, emoji_count = _emoji_pattern().subn("", rest)
        total += EMOJI_TOKENS * emoji_count
    ascii_count = len(rest.encode("ascii", "ignore"))
    return total + ASCII_TOKENS * ascii_count + OTHER_TOKENS * (len(rest) - ascii_count)


@lru_cache(maxsize=1)
def _wide_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_WIDE}]+")


@lru_cache(maxsize=1)
def _emoji_pattern() -> re.Pattern[str]:
    """Flags, keycaps, and pictures with their modifiers, tags and joined pictures."""
    one = f"[{_PICTURE}]\ufe0f?[\U0001f3fb-\U0001f3ff]?[\U000e0020-\U000e007f]*"
    return re.compile(
        f"[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|{one}(?:\u200d{one})*"
        "|[\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]"
    )
