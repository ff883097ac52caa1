"""Where a text speaks of an atom: quoted labels, labels and descriptions in order, close paraphrases."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from privlib.plans.verifier.lexicon import ARTICLES, public_words
from privlib.plans.verifier.paraphrases import Paraphrases
from privlib.plans.verifier.tokens import Token, words_of

FOREIGN = -1
_QUOTES = {"“": "”", '"': '"', "«": "»", "„": "“"}
_CLAUSES = frozenset((",", ";", ".", ":", "?", "!", "(", ")", "and", "or", "but", "while", "whereas"))
_SOFT = frozenset("-–—/,&'’()·:")


@dataclass(frozen=True)
class Mention:
    """Tokens [first, last) name atom `atom` (index in the plan) or, when FOREIGN, a label that was not admitted.

    `weak`: one word of a longer label, which no other label has.
    """

    first: int
    last: int
    atom: int
    label: str
    quoted: bool = False
    weak: bool = False


@dataclass
class Index:
    """Labels of a plan and of its universe, ready to be found in any text in time linear in its length."""

    quoted: dict[str, int] = field(default_factory=dict)
    tree: dict = field(default_factory=dict)
    others: Paraphrases = field(default_factory=Paraphrases)

    @classmethod
    def build(cls, admitted: Iterable[tuple[str, str]], universe: Iterable[str]) -> Index:
        """`admitted` (label, description) in rank order; `universe` all public labels (admitted ones are known)."""
        index = cls()
        admitted = list(admitted)
        parts = _parts([label for label, _ in admitted], universe)
        for atom, (label, _) in enumerate(admitted):
            index.quoted.setdefault(label, atom)
            index._add(label, atom, label)
        for atom, (label, description) in enumerate(admitted):
            aliases = [description, *description.split(",")] if description else []
            for alias in [*aliases, *parts.get(label, [])]:
                if alias.strip():
                    index.quoted.setdefault(alias.strip(), atom)
                    index._add(alias, atom, label)
        known = {_key(label) for label, _ in admitted}
        for label in universe:
            if _key(label) not in known:
                for alias in [label, *parts.get(label, [])]:
                    index._add(alias, FOREIGN, label)
        return index

    def _add(self, alias: str, atom: int, label: str) -> None:
        words = words_of(alias)
        if not words:
            return
        content = frozenset(word.stem for word in words) - public_words()
        if atom == FOREIGN and not content:
            self.quoted.setdefault(alias, FOREIGN)  # of public words only: a mention when quoted, prose otherwise
            return
        if len(words) == 1 and not content:
            return  # likewise for an admitted label such as "support", whose quoted form is known already
        for path in {tuple(word.stem for word in words), tuple(w.stem for w in words if w.text not in ARTICLES)}:
            node = self.tree
            for stem in path:
                node = node.setdefault(stem, {})
            if path:
                node.setdefault("", (atom, label))
        if not any(word.text.isnumeric() for word in words):  # "of 3 themes" is a count, not the label "theme 3"
            self.others.add(alias, atom, label)

    def find(self, tokens: list[Token], text: str) -> list[Mention]:
        """All mentions, left to right, none over another: quotes first, then longest runs, then paraphrases."""
        taken = [False] * len(tokens)
        found = self._in_quotes(tokens, text, taken)
        i = 0
        while i < len(tokens):
            mention = None if taken[i] else self._run(tokens, text, i, taken)
            if mention is None:
                i += 1
            else:
                found.append(_take(mention, taken))
                i = mention.last
        firm = len(found)
        found += [Mention(f.first, f.last, f.atom, f.label, weak=f.weak) for f in self.others.find(tokens, taken)]
        if any(mention.weak for mention in found[firm:]):
            found = _without_weak(found, tokens)
        return sorted(found, key=lambda mention: mention.first)

    def _in_quotes(self, tokens: list[Token], text: str, taken: list[bool]) -> list[Mention]:
        found, i = [], 0
        lengths = sorted({len(label) for label in self.quoted}, reverse=True)
        starts = [token.start for token in tokens]
        at = {start: k for k, start in enumerate(starts)}
        while i < len(tokens):
            close = _QUOTES.get(tokens[i].text) if tokens[i].kind == "mark" else None
            begin, marked = tokens[i].end, close is not None
            if not marked and text[max(0, tokens[i].start - 1) : tokens[i].start] in ("*", "_", "`"):
                begin = tokens[i].start  # "**label**", whose marks are no tokens
                close = text[begin - 1]
            end = next(
                (
                    begin + length
                    for length in lengths
                    if close
                    and text[begin + length : begin + length + 1] == close
                    and text[begin : begin + length] in self.quoted
                ),
                None,
            )
            if end is None or (marked and end not in at):
                i += 1
                continue
            label, last = text[begin:end], at[end] + 1 if marked else bisect_left(starts, end)
            mention = Mention(i, last, self.quoted[label], label, quoted=True)
            found.append(_take(mention, taken))
            i = mention.last
        return found

    def _run(self, tokens: list[Token], text: str, i: int, taken: list[bool]) -> Mention | None:
        """Longest label whose words follow one another from token i, with soft marks between."""
        node, best, k = self.tree, None, i
        while k < len(tokens) and not taken[k]:
            token = tokens[k]
            if token.kind in ("word", "number"):
                if token.stem not in node and k > i and token.text in ARTICLES:
                    k += 1
                    continue
                node = node.get(token.stem)
                if node is None:
                    break
                if "" in node:
                    best = (k + 1, *node[""])
            elif k == i or not (token.text in _SOFT or _inside(tokens, text, k)):
                break
            k += 1
        return None if best is None else Mention(i, best[0], best[1], best[2])


def _take(mention: Mention, taken: list[bool]) -> Mention:
    for k in range(mention.first, mention.last):
        taken[k] = True
    return mention


def _without_weak(found: list[Mention], tokens: list[Token]) -> list[Mention]:
    """Weak mentions only where their clause has no other: beside a label in full one of its words is prose."""
    clause, at = [], 0
    for token in tokens:
        at += token.kind == "line" or token.text in _CLAUSES
        clause.append(at)
    firm = {clause[mention.first] for mention in found if not mention.weak}
    return [mention for mention in found if not (mention.weak and clause[mention.first] in firm)]


def _inside(tokens: list[Token], text: str, k: int) -> bool:
    """Whether the mark at k has no blank after it, as the dots of "U.S." have not."""
    return tokens[k].text == "." and tokens[k].end < len(text) and text[tokens[k].end].isalnum()


def _key(label: str) -> tuple[str, ...]:
    return tuple(word.text for word in words_of(label))


def _parts(admitted: list[str], universe: Iterable[str]) -> dict[str, list[str]]:
    """Pieces of slash-joined labels ("... / Issue / Sub-issue") that name one label only, and its last with its first.

    A piece needs two words, one of them not public.
    """
    owners: dict[tuple[str, ...], set[str]] = {}
    pieces: dict[str, list[str]] = {}
    for label in dict.fromkeys([*admitted, *universe]):
        parts = label.split(" / ")
        ends = [" / ".join(parts[k:]) for k in range(1, len(parts))]
        pieces[label] = [*ends, f"{parts[-1]} {parts[0]}"] if ends else []
        for piece in {_key(piece) for piece in pieces[label]}:
            owners.setdefault(piece, set()).add(label)
    return {
        label: [
            piece
            for piece in found
            if len(owners[_key(piece)]) == 1
            and len(words := words_of(piece)) > 1
            and any(word.stem not in public_words() for word in words)
        ]
        for label, found in pieces.items()
    }
