"""Paraphrases by a language model whose answers are checked: an answer that is none is asked again, then counted.

The model is a callable, so that this package runs none: `privlib.models.language_model().complete` fits (the packaged
model keeps to a form shown by examples, less to one asked for in a chat). It sees the texts whole: give it texts that
are public or released. Paraphrasing those is post-processing, and what was promised for them still holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from privlib.dp import checks

EXAMPLES = (
    ("It rained all day and we stayed in.", "We did not go out, because the rain never stopped."),
    ("The bus was an hour late again.", "Once more the bus came a full hour after its time."),
)
_TASK = "Each text is said again in other words, with the same meaning."
_MARKS = re.compile(r"\b(Text|Again):|same meaning")
FAULTS = ("empty", "echo", "malformed", "duplicate")


class Generate(Protocol):
    """One answer a prompt. Temperature 0 is the likeliest answer; else (seed, prompt) decides the draw."""

    def __call__(self, prompts: Sequence[str], max_new_tokens: int, temperature: float, seed: int) -> Sequence[str]: ...


@dataclass(frozen=True)
class Paraphrases:
    """What was kept, and what was not.

    Attributes:
        texts: one tuple a text, of at most n paraphrases, no two of them the same up to case and punctuation.
        answers: answers got in all.
        faults: how many answers were "empty", an "echo" of the text or of the prompt, "malformed" (an announcement
            such as "Here it is:"), or a "duplicate" of another answer to the same text.
        missing: paraphrases still wanting after the last attempt.
    """

    texts: tuple[tuple[str, ...], ...]
    answers: int
    faults: dict[str, int]
    missing: int


def paraphrase(
    texts: Sequence[str],
    generate: Generate,
    n: int = 1,
    *,
    attempts: int = 3,
    max_new_tokens: int = 64,
    temperature: float = 0.9,
    seed: int = 0,
) -> Paraphrases:
    """Up to `n` paraphrases of each text; never the text itself, never an answer that is no paraphrase.

    Only the form is checked: whether the meaning is kept has to be measured, e.g. by the distance of embeddings.

    Args:
        texts: public or released texts, none of them blank.
        generate: the model, called once an attempt with every paraphrase that still wants.
        n: paraphrases a text, >= 1.
        attempts: rounds of asking, >= 1; each has a seed of its own.
        max_new_tokens, temperature: of the model; above 0, or every round would repeat the first.
        seed: fixes the answers of a model that draws by seed.
    Raises:
        ValueError: a blank text, an argument out of range, or not one text a prompt from `generate`.
        TypeError: an argument or an answer of the wrong type.
    """
    n, attempts = checks.whole("n", n), checks.whole("attempts", attempts)
    checks.whole("max_new_tokens", max_new_tokens)
    temperature = checks.positive("temperature", temperature)
    texts = checks.texts("texts", texts)
    if blank := sum(not text.strip() for text in texts):
        raise ValueError(f"texts must not be blank, got {blank} blank of {len(texts)}")
    kept: list[list[str]] = [[] for _ in texts]
    faults: Counter[str] = Counter()
    answers = 0
    for attempt in range(attempts):
        waiting = [row for row, found in enumerate(kept) for _ in range(n - len(found))]
        if not waiting:
            break
        prompts = [_prompt(texts[row]) for row in waiting]
        given = list(generate(prompts, max_new_tokens, temperature, seed * attempts + attempt))
        if len(given) != len(prompts):
            raise ValueError(f"generate must give one text a prompt ({len(prompts)}), got {len(given)}")
        for row, answer in zip(waiting, given, strict=True):
            if not isinstance(answer, str):
                raise TypeError(f"generate must give texts, got {type(answer).__name__}")
            said = " ".join(answer.strip().partition("\n")[0].split()).strip("\"' ")
            if fault := _fault(said, texts[row], kept[row]):
                faults[fault] += 1
            else:
                kept[row].append(said)
        answers += len(given)
    counted = {fault: faults[fault] for fault in FAULTS}
    return Paraphrases(tuple(map(tuple, kept)), answers, counted, sum(n - len(found) for found in kept))


def _prompt(text: str) -> str:
    shown = "".join(f"\n\nText: {before}\nAgain: {after}" for before, after in EXAMPLES)
    return f"{_TASK}{shown}\n\nText: {' '.join(text.split())}\nAgain:"


def _fault(said: str, text: str, before: Sequence[str]) -> str | None:
    bare = _bare(said)
    if not bare:
        return "empty"
    if _MARKS.search(said) or bare in {_bare(text), *(_bare(part) for pair in EXAMPLES for part in pair)}:
        return "echo"
    if said.endswith(":"):
        return "malformed"
    return "duplicate" if bare in map(_bare, before) else None


def _bare(text: str) -> str:
    """The words alone, in lower case: what makes two answers the same answer."""
    return " ".join(re.findall(r"\w+", text.lower()))
