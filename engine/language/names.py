"""Words of Chinese with their part of speech, which says what may be a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

_Tagger = Callable[[str], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """A word with jieba's tag (``nr`` a person, ``ns`` a place, ``nt`` an institution, ...);
    it begins at ``begin`` of the text."""

    text: str
    tag: str
    begin: int

    @property
    def stop(self) -> int:
        """Where the word ends in the text."""
        return self.begin + len(self.text)


def tagged_words(text: str) -> list[TaggedWord]:
    """All words of a text in order; joined they are the text. The first call loads a
    dictionary."""
    words: list[TaggedWord] = []
    begin = 0
    for word, tag in _tagger()(text):
        words.append(TaggedWord(word, tag, begin))
        begin += len(word)
    return words


@lru_cache(maxsize=1)
def _tagger() -> _Tagger:
    """The compiled segmenter where it is installed, else the pure Python one."""
    if find_spec("rjieba") is not None:
        import rjieba

        return rjieba.tag
    return _python_tagger()


def _python_tagger() -> _Tagger:
    from engine.language.segmenters import quiet_jieba

    quiet_jieba()
    import jieba
    import jieba.posseg

    tokenizer = jieba.Tokenizer()
    # Its own default is a file in the shared temporary folder, which any other user of the
    # computer could have written.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    tagger = jieba.posseg.POSTokenizer(tokenizer)
    return lambda text: ((pair.word, pair.flag) for pair in tagger.cut(text))
