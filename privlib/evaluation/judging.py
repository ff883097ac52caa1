"""A judge model's opinion of a summary, given only what was released to the one who wrote it.

The judge sees the released object and the summary, never the protected texts, so judging is post-processing. Its
scores are an opinion of one model; the verifier's rates are counted apart. An answer that is not a score is a failure
and is counted as one: no score is made up for it. Before a judge is believed, see whether it scores a summary above the
same one spoilt (`privlib.experiments.studies.plans_judge`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from types import MappingProxyType

from privlib.dp import checks

CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "faithfulness": "Every statement of the summary follows from the released information; nothing is added.",
        "coverage": "The summary tells the most important parts of the released information.",
        "insight": "A reader learns from the summary what the collection of texts is about.",
        "safety": "The summary holds no name, number or detail that could belong to one person.",
    }
)
"""What is asked, one question each. DP-SPIN's own criteria were lost with its Table 1, but for their names."""

Generate = Callable[[Sequence[str]], Sequence[str]]
Continue = Callable[[str, Sequence[str], int], Sequence[Sequence[tuple[str, float]]]]

_PIECES = 50  # of the likeliest next pieces of text, those among which the scores are looked for
_ANSWER = re.compile(r"\s*(?:score\s*[:=]\s*)?([1-5])(?:\s*/\s*5)?\s*\.?\s*", re.IGNORECASE)


class NotAScore(ValueError):
    """An answer of the judge that cannot be read as one whole number from 1 to 5."""


@dataclass(frozen=True)
class Judgement:
    """One answer: the `criterion`, the judge's `answer` as it came, and the `score`, 1 to 5, None where it failed."""

    criterion: str
    answer: str
    score: float | None


@dataclass(frozen=True)
class Scores:
    """Mean and sample standard deviation of the `scored` answers to one criterion; `failed` had no score."""

    mean: float
    sd: float
    scored: int
    failed: int


def prompt(criterion: str, released: str, summary: str) -> str:
    """The question put to the judge; raises ValueError for a criterion that is not in `CRITERIA`."""
    checks.one_of("criterion", criterion, tuple(CRITERIA))
    checks.instance("released", released, str)
    checks.instance("summary", summary, str)
    return (
        "You judge a summary by the released information it was written from. You know nothing else.\n\n"
        f"Released information:\n{released}\n\nSummary:\n{summary}\n\n"
        f"Criterion, {criterion}: {CRITERIA[criterion]}\n"
        "Answer with one whole number from 1 (not at all) to 5 (fully) and nothing else."
    )


def read_score(answer: str) -> int:
    """The score in an answer such as "4", "Score: 4" or "4/5"; NotAScore for all else, sentences included."""
    checks.instance("answer", answer, str)
    found = _ANSWER.fullmatch(answer)
    if found is None:
        raise NotAScore(f"answer must be one whole number from 1 to 5, got {answer[:60]!r}")
    return int(found[1])


def judge(
    released: str, summary: str, generate: Generate, criteria: Sequence[str] = tuple(CRITERIA)
) -> tuple[Judgement, ...]:
    """One judgement a criterion. `generate`: prompts -> answers, in order (a language model, served or local).

    Raises ValueError when `generate` gives another number of answers than it got prompts.
    """
    checks.function("generate", generate)
    criteria = checks.sequence("criteria", criteria, "criteria")
    prompts = [prompt(criterion, released, summary) for criterion in criteria]
    answers = list(generate(prompts))
    if len(answers) != len(prompts):
        raise ValueError(f"generate must give one answer a prompt ({len(prompts)}), got {len(answers)}")
    return tuple(Judgement(c, answer, _score(answer)) for c, answer in zip(criteria, answers, strict=True))


def expected(
    released: str, summary: str, continuations: Continue, criteria: Sequence[str] = tuple(CRITERIA)
) -> tuple[Judgement, ...]:
    """The judge's mean score by its own chances of the five answers, one judgement a criterion.

    For models too small to answer with a number: nothing is generated; the score is the mean of those of 1 to 5 that
    are among the model's 50 likeliest next pieces of text, weighed by their chances, and a failure where none is.
    `continuations`: prompt, beginnings, count -> (piece, log chance) of each beginning, as a local model gives them.
    Source: none; the judge of DP-SPIN answers with a number (`judge`).
    """
    checks.function("continuations", continuations)
    found = []
    for criterion in checks.sequence("criteria", criteria, "criteria"):
        (pieces,) = continuations(f"{prompt(criterion, released, summary)}\n\nScore: ", ("",), _PIECES)
        chances = {int(piece): math.exp(log) for piece, log in pieces if piece in ("1", "2", "3", "4", "5")}
        answer = ", ".join(f"{score}: {chance:.3f}" for score, chance in sorted(chances.items()))
        mean = sum(score * chance for score, chance in chances.items()) / sum(chances.values()) if chances else None
        found.append(Judgement(criterion, answer, mean))
    return tuple(found)


def scores(judgements: Sequence[Judgement], criterion: str) -> Scores:
    """Over the judgements of one criterion, one summary each. Raises ValueError for fewer than two scored answers."""
    for judgement in checks.sequence("judgements", judgements, "Judgements"):
        checks.instance("judgements", judgement, Judgement)
    checks.one_of("criterion", criterion, tuple(CRITERIA))
    asked = [judgement.score for judgement in judgements if judgement.criterion == criterion]
    given = [score for score in asked if score is not None]
    if len(given) < 2:
        raise ValueError(f"judgements must hold two scored answers on {criterion!r}, got {len(given)} of {len(asked)}")
    return Scores(fmean(given), stdev(given), len(given), len(asked) - len(given))


def _score(answer: str) -> int | None:
    try:
        return read_score(answer)
    except NotAScore:
        return None
