"""Keywords of texts from a fixed public vocabulary, at most so many a record: what bounds a record's influence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from privlib.dp import checks

_LINK = re.compile(r"https?://\S+|www\.\S+|[@#]\w+|\S+@\S+\.\w+")
_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST = 4  # letters; shorter words are mostly function words and fragments


def words(text: str) -> list[str]:
    """Runs of letters, lower-case, in order; links, handles, tags, addresses and masks such as "XXXX" left out."""
    return [word for word in _WORD.findall(_LINK.sub(" ", text.lower())) if len(word) < 3 or len(set(word)) > 1]


def content_words(text: str) -> list[str]:
    """The `words` of four letters or more that are no English stop words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [word for word in words(text) if len(word) >= _SHORTEST and word not in ENGLISH_STOP_WORDS]


def public_vocabulary(public_texts: Sequence[str], size: int) -> tuple[str, ...]:
    """The `size` >= 1 words that most public texts hold, ties by alphabet; fewer when there are fewer.

    Of the `content_words` only. `public_texts` must be public: the
    vocabulary is shown to every reader. Raises ValueError when no word remains.
    """
    size = checks.whole("size", size, at_least=1)
    if getattr(getattr(public_texts, "provenance", None), "public", True) is not True:
        raise ValueError("public_texts must be public, got a corpus whose provenance is not public")
    public_texts = checks.texts("public_texts", public_texts)
    support = Counter(word for text in public_texts for word in set(content_words(text)))
    if not support:
        raise ValueError(f"public_texts must hold a word of {_SHORTEST} letters, got none in {len(public_texts)} texts")
    return tuple(sorted(support, key=lambda word: (-support[word], word))[:size])


def keyword_rows(texts: Sequence[str], vocabulary: Sequence[str], most: int) -> sparse.csr_array:
    """0/1 CSR (n, V): which words of `vocabulary` each text holds, the first `most` >= 1 distinct ones only.

    A row depends on its text and public settings alone, holds at most `most` ones, and so has l1 norm at most
    `most` and l2 norm at most sqrt(most). Words outside the vocabulary count for nothing.
    """
    most, vocabulary = checks.whole("most", most, at_least=1), check_vocabulary("vocabulary", vocabulary)
    place = {word: index for index, word in enumerate(vocabulary)}
    indices: list[int] = []
    ends = [0]
    for text in check_texts(texts):
        found = dict.fromkeys(place[word] for word in words(text) if word in place)
        indices += list(found)[:most]
        ends.append(len(indices))
    return sparse.csr_array(
        (np.ones(len(indices)), np.array(indices, dtype=np.int64), np.array(ends)), (len(ends) - 1, len(place))
    )


def check_texts(texts: Sequence[str]) -> list[str]:
    """Private texts as a list; TypeError that names types only unless they are a sequence of str."""
    listed = [texts] if isinstance(texts, bytes) else list(texts)
    if isinstance(texts, (str, bytes)) or not all(isinstance(text, str) for text in listed):
        raise TypeError(f"texts must be a sequence of str, got {type(texts).__name__} or items of another type")
    return listed


def check_vocabulary(name: str, labels: Sequence[str]) -> tuple[str, ...]:
    """Public labels as a tuple of distinct, non-empty str; TypeError or ValueError otherwise."""
    labels = checks.texts(name, labels)
    if not labels or not all(labels) or len(set(labels)) != len(labels):
        raise ValueError(
            f"{name} must be distinct and not empty, got {len(labels)} of them, {len(set(labels))} distinct"
        )
    return tuple(labels)
