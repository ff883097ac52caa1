"""Labels in other words of the same roots: part of a label, in any order, where the part belongs to no other label."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from privlib.plans.verifier.lexicon import ARTICLES, irregular_stems, public_words
from privlib.plans.verifier.tokens import Token, words_of

# long endings first; what is left must be a root of its own
_ENDINGS = (
    *("iveness", "fulness", "ational", "ability", "ibility", "ization", "isation"),
    *("ation", "ition", "ement", "ingly", "ously", "ness", "ment", "ance", "ence", "able", "ible", "less", "ally"),
    *("ting", "ful", "ion", "ity", "ous", "ive", "ure", "age", "ing", "ial", "ery", "al", "ly", "er", "or", "ed", "en"),
    *("anc", "enc", "abl", "ibl", "iv", "ur", "ag", "is", "iz", "ic", "y", "e", "t"),
)
_FRONTS = ("under", "over", "non", "dis", "mis", "un", "in", "re")
_LINKS = ARTICLES | {
    "with",
    "from",
    "at",
    "and",
    "or",
    "during",
    "too",
    "your",
    "when",
    "after",
    "no",
    "not",
    "without",
}
_HALF = 4  # letters of each half of a compound
_WINDOW = 9  # tokens over which the words of a label may be spread
_MOST = 64  # labels tried for one word


@lru_cache(maxsize=65536)
def root(stem: str) -> str:
    """What related words share: "departure", "departing" and "depart"; "tightness" and "tight"; "unannounced"."""
    word = irregular_stems().get(stem, stem)
    for front in _FRONTS:
        if word.startswith(front) and len(word) - len(front) >= 5:
            word = word[len(front) :]
            break
    for _ in range(2):
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= (4 if len(ending) > 1 else 3):
                word = word[: -len(ending)]
                break
    return word[:-1] if len(word) > 4 and word[-1] == word[-2] else word


@dataclass(frozen=True)
class Found:
    """Tokens [first, last) stand for a label; `weak` where only one of its words does."""

    first: int
    last: int
    atom: int
    label: str
    weak: bool


@dataclass
class Paraphrases:
    """Labels by the roots of their words; `atom` below zero marks a label that was not admitted."""

    labels: list[tuple[frozenset[str], frozenset[str], int, str]] = field(default_factory=list)
    holders: dict[str, list[int]] = field(default_factory=dict)
    spread: Counter = field(default_factory=Counter)
    halves: dict[str, dict[str, str]] = field(default_factory=dict)  # "sleep", "walk" -> "sleepwalk"
    parts: set[str] = field(default_factory=set)  # both halves of each

    def add(self, alias: str, atom: int, label: str) -> None:
        """Take in a label, or another name of it."""
        words = [word for word in words_of(alias) if word.kind == "word" and word.text not in _LINKS]
        named = frozenset(root(word.stem) for word in words)
        content = frozenset(root(word.stem) for word in words if not {word.text, word.stem} & public_words())
        # a label of public words alone is prose unless all its words are there
        if (content or (atom >= 0 and len(named) > 1)) and len(named) <= 8:
            for word in named:
                for cut in range(_HALF, len(word) - _HALF + 1):
                    self.halves.setdefault(word[:cut], {})[word[cut:]] = word
                    self.parts |= {word[:cut], word[cut:]}
            for name in named:
                self.holders.setdefault(name, []).append(len(self.labels))
                if not any(self.labels[k][3] == label for k in self.holders[name][:-1]):
                    self.spread[name] += 1
            self.labels.append((named, content, atom, label))

    def find(self, tokens: list[Token], taken: list[bool]) -> list[Found]:
        """Mentions among the tokens that no better mention has taken, left to right; takes theirs."""
        found = []
        for i in range(len(tokens)):
            if taken[i] or tokens[i].kind != "word":
                continue
            best = self._best(tokens, i, taken)
            if best is not None:
                found.append(best)
                taken[best.first : best.last] = [True] * (best.last - best.first)
        return found

    def _best(self, tokens: list[Token], i: int, taken: list[bool]) -> Found | None:
        here = root(tokens[i].stem)
        if here not in self.holders and here not in self.parts:
            return None
        near: dict[str, int] = {}
        end = min(i + _WINDOW, len(tokens))
        for k in range(i, end):
            if taken[k] or tokens[k].kind == "line" or tokens[k].text in ".;!?,:()|–—":
                break
            if tokens[k].kind == "word":
                near.setdefault(root(tokens[k].stem), k)
        wholes = {}  # "walking in one's sleep" holds the word "sleepwalking"
        for left in near:
            for right, whole in self.halves.get(left, {}).items():
                if right in near and here in (left, right):
                    wholes[whole] = max(near[left], near[right])
        near |= wholes
        held = [which for name in (here, *wholes) for which in self.holders.get(name, ())[:_MOST]]
        # "guarantee" is what any report says, and no mention of a label "guarantor"
        public = {name for name, k in near.items() if {tokens[k].text, tokens[k].stem} & public_words()}
        fits = []
        for which in held[:_MOST]:
            named, content, atom, label = self.labels[which]
            shared, content = named & near.keys(), content - public
            far = max((near[name] for name in shared), default=i) - i > len(named) + 3
            if not (far and atom < 0) and self._enough(shared, named, content, atom):
                fits.append((len(shared) / len(named), len(shared), atom >= 0, -which))
        if not fits:
            return None
        fits.sort()
        named, content, atom, label = self.labels[-fits[-1][3]]
        shared = named & near.keys()
        rivals = {self.labels[-fit[3]][3] for fit in fits if fit[:2] == fits[-1][:2]}
        if len(rivals) > 1 and shared != named:
            return None
        weak = len(shared) == 1 and len(named) > 1
        if weak and self._mixed(tokens, i, label):
            return None
        return Found(i, max(near[name] for name in shared) + 1, atom, label, weak)

    def _mixed(self, tokens: list[Token], i: int, label: str) -> bool:
        """Whether a word of another label stands next to token i: together they name neither."""
        for k in (i - 1, i + 1):
            held = self.holders.get(root(tokens[k].stem), ()) if 0 <= k < len(tokens) else ()
            if held and not any(self.labels[which][3] == label for which in held[:_MOST]):
                return True
        return False

    def _enough(self, shared: frozenset[str], named: frozenset[str], content: frozenset[str], atom: int) -> bool:
        if shared == named:
            return bool(len(named) > 1 or content)
        own = shared & content
        alone = min((self.spread[name] for name in shared), default=0) == 1 or len(shared) > 2
        if len(shared) >= 2 and own and alone:
            return 2 * len(shared) >= len(named) if atom >= 0 else 3 * len(shared) >= 2 * len(named) and len(own) > 1
        if len(shared) >= 3 and 5 * len(shared) >= 3 * len(named):
            return atom >= 0
        return atom >= 0 and any(self.spread[name] == 1 for name in own)
