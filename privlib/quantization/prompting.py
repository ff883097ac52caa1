"""Rewriting and labelling by a language model, whose answers are parsed strictly.

The model is a callable, so that this package runs none: `privlib.models.language_model().generate` fits. An answer
that is not in the asked form is asked again with another seed, then counted; it is never used raw, and no other
answer is read into it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from privlib.dp import checks

from .rewriting import Rewriter
from .schema import Schema, checked_schema
from .snippets import SnippetExtractor, kept, words

OPEN, CLOSE = "<message>", "</message>"
EXAMPLES = (
    ("topic = weather; mood = good", "it rained | we stayed in", "It rained and we stayed in, which was lovely."),
    ("topic = travel; mood = bad", "an hour late", "The bus was an hour late again and nobody said sorry."),
)
_MESSAGE = re.compile(rf"\s*{OPEN}([^<>]*){CLOSE}\s*")
_SEEDS = 2**31


class Generate(Protocol):
    """One answer a prompt. Temperature 0 is the likeliest answer; else (seed, prompt) decides the draw."""

    def __call__(self, prompts: Sequence[str], max_new_tokens: int, temperature: float, seed: int) -> Sequence[str]: ...


@dataclass
class RewritingReport:
    """What a language-model rewriter did. It depends on private texts: for the curator, never part of a release.

    rows asked for; answers got in all; malformed answers and copies of the private text among them; rows given up
    after the last attempt.
    """

    rows: int = 0
    answers: int = 0
    malformed: int = 0
    given_up: int = 0


@dataclass(frozen=True)
class LanguageModelRewriter:
    """Rewriter by a language model: it is given the target's category names and the fitting snippets, never the text.

    A row whose answers stay malformed for all `attempts` is handed to `fallback`, and counted. Use a fallback that
    does not read private text (`splice(..., fresh_share=1)`), or the fallback's leak comes with it.

    **Not covered by the bound**: what a model makes of snippets is neither faithful by force nor free of traces.
    Faithfulness has to be measured (`faithfulness`), and provenance attacked (`provenance_attack`).

    Args:
        generate: the model; a served one sees the snippets of private texts.
        schema: names of attributes and categories, which stand in the prompt.
        extractor: of snippets.
        fallback: rewriter of the rows given up.
        attempts: answers asked a row at most, >= 1.
        max_new_tokens: of the model, >= 1. temperature: > 0, or a second attempt would repeat the first.
        opened: the prompt ends with the opening mark, for a model that completes documents
            (`privlib.models.language_model().complete`, the packaged one's better way); False for one that is asked.
        report: counts are added to it.
    """

    not_covered: ClassVar[str] = "what the model keeps of a private text is not covered by the bound"

    generate: Generate
    schema: Schema
    extractor: SnippetExtractor
    fallback: Rewriter
    attempts: int = 3
    max_new_tokens: int = 96
    temperature: float = 0.7
    opened: bool = False
    report: RewritingReport = field(default_factory=RewritingReport, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.generate):
            raise TypeError(f"generate: expected a callable model, got {type(self.generate).__name__}")
        checked_schema(self.schema)
        _check_asking(self)
        checks.truth("opened", self.opened)

    def rewrite(self, texts, labels: np.ndarray, targets: np.ndarray, noise) -> tuple[str, ...]:
        """See `Rewriter.rewrite`; texts are needed, one a row, else ValueError."""
        if texts is None or len(texts) != len(labels):
            raise ValueError(
                f"texts: expected one private text a row ({len(labels)}), got {'none' if texts is None else len(texts)}"
            )
        changed = (labels != targets).any(axis=1)
        prompts = [self.prompt(*row) for row in zip(texts, targets, changed, strict=True)]
        written: list[str | None] = [None] * len(prompts)
        self.report.rows += len(prompts)
        for _ in range(self.attempts):
            waiting = [row for row, message in enumerate(written) if message is None]
            if not waiting:
                break
            answers = _asked(self, [prompts[row] for row in waiting], noise)
            self.report.answers += len(answers)
            for row, answer in zip(waiting, answers, strict=True):
                message = parse_message(answer, self.opened)
                # A copy of the private text is no rewriting of it.
                written[row] = None if message is None or words(message) == words(texts[row]) else message
                self.report.malformed += written[row] is None
        lost = [row for row, message in enumerate(written) if message is None]
        self.report.given_up += len(lost)
        if lost:
            instead = self.fallback.rewrite(
                tuple(texts[row] for row in lost), labels[lost], targets[lost], noise.child("fallback")
            )
            for row, message in zip(lost, instead, strict=True):
                written[row] = message
        return tuple(written)

    def prompt(self, text: str, target: Sequence[int], changed: bool) -> str:
        """What the model is asked for one row."""
        wanted = "; ".join(
            f"{name} = {categories[code]}"
            for (name, categories), code in zip(self.schema.attributes, target, strict=True)
        )
        notes = " | ".join(_plain(snippet) for snippet in kept(self.extractor, text, target, changed)) or "none"
        shown = "".join(f"Labels: {a}\nNotes: {b}\nAnswer: {OPEN}{c}{CLOSE}\n\n" for a, b, c in EXAMPLES)
        return (
            "You write one short message that uses the notes and shows the labels.\n"
            f"Answer with the message alone, between {OPEN} and {CLOSE}.\n\n"
            f"{shown}Labels: {wanted}\nNotes: {notes}\nAnswer:{' ' + OPEN if self.opened else ''}"
        )


def parse_message(answer: str, opened: bool = False) -> str | None:
    """The message of an answer that is one message between its two marks and nothing else; otherwise None.

    Args:
        opened: the prompt ended with the first mark, so the answer begins behind it.


    An empty message, one without a word, "nan", "none", an example of the prompt, and one that holds a mark or a
    line of the prompt are none.
    """
    found = _MESSAGE.fullmatch(OPEN + answer if opened else answer)
    if found is None:
        return None
    message = " ".join(found[1].split())
    missing = words(message) in ([], ["nan"], ["none"], ["null"])
    echoed = message in {said for _, _, said in EXAMPLES} or re.search(r"\b(Labels|Notes|Answer):", message)
    return None if missing or echoed else message


@dataclass(frozen=True)
class PromptedLabeller:
    """Labeller by a language model: asked for one category by name (QuanText Algorithm 1, line 11; section V-C).

    Args:
        generate: the model; it sees the texts whole.
        question: what is asked about the text, in words, e.g. "Is the writer for or against it?".
        categories: legal answers, at least two, distinct also in lower case.
        attempts, max_new_tokens, temperature: as in `LanguageModelRewriter`.
    """

    generate: Generate
    question: str
    categories: tuple[str, ...]
    attempts: int = 3
    max_new_tokens: int = 12
    temperature: float = 0.7

    def __post_init__(self) -> None:
        checks.function("generate", self.generate)
        checks.instance("question", self.question, str)
        checks.texts("categories", self.categories)
        if len({category.lower() for category in self.categories}) != len(self.categories) or len(self.categories) < 2:
            raise ValueError(f"categories: expected two distinct names or more, got {self.categories}")
        _check_asking(self)

    def answers(self, texts: Sequence[str], noise) -> tuple[str | None, ...]:
        """One category a text, None where no attempt named one: the caller counts those, and guesses none.

        Args:
            texts: any.
            noise: of the attempts' seeds (`integers`).
        """
        asked = f"{self.question}\nAnswer with one of: {', '.join(self.categories)}."
        texts = checks.texts("texts", texts)
        prompts = [f"{asked}\n\nText: {_plain(text)}\nAnswer:" for text in texts]
        given: list[str | None] = [None] * len(prompts)
        for _ in range(self.attempts):
            waiting = [row for row, answer in enumerate(given) if answer is None]
            if not waiting:
                break
            for row, answer in zip(waiting, _asked(self, [prompts[row] for row in waiting], noise), strict=True):
                given[row] = parse_category(answer, self.categories)
        return tuple(given)


def parse_category(answer: str, categories: Sequence[str]) -> str | None:
    """The category that an answer names, alone, up to case, quotes and a full stop; otherwise None.

    No search inside the answer: "not FAVOR" names nothing, and "against" is not read out of "nothing against it".
    """
    said = answer.strip().strip("\"'`*").rstrip(".").strip().lower()
    return next((category for category in categories if category.lower() == said), None)


def _check_asking(by) -> None:
    checks.settle(by, attempts=checks.whole, max_new_tokens=checks.whole, temperature=checks.positive)


def _asked(by, prompts: list[str], noise) -> list[str]:
    answers = list(by.generate(prompts, by.max_new_tokens, by.temperature, int(noise.integers(_SEEDS))))
    if len(answers) != len(prompts) or not all(isinstance(answer, str) for answer in answers):
        raise ValueError(f"generate: expected one text a prompt ({len(prompts)}), got {len(answers)} answers")
    return answers


def _plain(text: str) -> str:
    """One line without the prompt's own signs, so that a text cannot end its place in the prompt."""
    return " ".join(re.sub(r"[<>|]", " ", text).split())
