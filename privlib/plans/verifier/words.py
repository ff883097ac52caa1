"""Words that come from nowhere: neither in the plan nor public."""

from __future__ import annotations

from dataclasses import dataclass

from privlib.plans.plan import DEFAULT_BIN_EDGES, SemanticPlan
from privlib.plans.verifier.lexicon import plain_words, public_words
from privlib.plans.verifier.mentions import Mention
from privlib.plans.verifier.tokens import Token, stem, words_of

_OPENING, _CLOSING = frozenset("“«„"), frozenset("”»")


@dataclass(frozen=True)
class Strange:
    """Tokens [first, last) that no list knows; `pair` when they are plan words that name no atom together."""

    first: int
    last: int
    pair: bool = False


@dataclass(frozen=True)
class Contents:
    """For each token: a content word that is not public (`odd`), in the plan (`own`), of ordinary prose (`plain`)."""

    odd: list[bool]
    own: list[bool]
    plain: list[bool]

    def unknown(self, k: int) -> bool:
        """Whether token k is a word that is neither public nor the plan's."""
        return self.odd[k] and not self.own[k]

    def strange(self, k: int) -> bool:
        """Whether token k is unknown and no word of ordinary prose either."""
        return self.unknown(k) and not self.plain[k]


def contents(tokens: list[Token], free: list[bool], plan: SemanticPlan) -> Contents:
    """The content words outside all mentions."""
    public, plain = public_words(), plain_words()
    own = {word.stem for atom in plan.atoms for word in words_of(f"{atom.label} {atom.description}")}
    said = {word.stem for word in words_of(f"{plan.mechanism} {' '.join(plan.guarantee.composed)}")}
    said |= {word.stem for word in words_of(" ".join(plan.guarantee.assumptions))}
    said |= {stem(name) for name in plan.bin_edges or DEFAULT_BIN_EDGES}
    odd = [
        token.kind == "word" and free[k] and not {token.text, token.stem} & public and token.stem not in said
        for k, token in enumerate(tokens)
    ]
    prose = [bool({token.text, token.stem, token.text.removeprefix("un")} & plain) for token in tokens]
    return Contents(odd, [token.stem in own for token in tokens], prose)


def strange_words(tokens: list[Token], words: Contents, universe_known: bool) -> list[Strange]:
    """Runs of content words outside all mentions that are not public.

    Where the universe is known only quoted ones count, since its other labels are found by name. Where it is not,
    every word that is neither public nor the plan's counts, and so do neighbouring words of different labels.
    """
    quoted = in_quotes(tokens)
    found: list[Strange] = []
    run = loose = None
    for k in range(len(tokens)):
        content = words.odd[k]
        if content and (quoted[k] or (not universe_known and not words.own[k])):
            run = k if run is None else run
            continue
        if run is not None:
            found.append(Strange(run, k))
            run = None
        if content and not universe_known and loose == k - 1 and k:
            found.append(Strange(k - 1, k + 1, pair=True))
        loose = k if content else None
    return [*found, Strange(run, len(tokens))] if run is not None else found


def in_quotes(tokens: list[Token]) -> list[bool]:
    """For each token whether it stands between quotation marks on its line."""
    inside, marks = False, []
    for token in tokens:
        if token.kind == "line" or token.text in _CLOSING:
            inside = False
        elif token.text in _OPENING:
            inside = True
        elif token.text == '"':
            inside = not inside
        marks.append(inside)
    return marks


def is_prose(mention: Mention, tokens: list[Token]) -> bool:
    """Whether a mention is unquoted and made of public words only."""
    words = [t for t in tokens[mention.first : mention.last] if t.kind == "word"]
    return not mention.quoted and all({t.text, t.stem} & public_words() for t in words)


def without_prose(mentions: list[Mention], tokens: list[Token]) -> list[Mention]:
    """Drop unquoted mentions made of public words only on lines that quote a label: there they are prose."""
    lines, line = [], 0
    for token in tokens:
        lines.append(line)
        line += token.kind == "line"
    quoting = {lines[mention.first] for mention in mentions if mention.quoted}
    kept = []
    for mention in mentions:
        if not (is_prose(mention, tokens) and lines[mention.first] in quoting):
            kept.append(mention)
    return kept
