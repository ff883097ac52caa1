"""A judge's scores of plans and of other private summaries, and whether that judge can tell a spoilt summary.

The judge sees what was released and the summary, so everything here is post-processing of simulated releases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import numpy as np

from privlib import baselines, evaluation, plans
from privlib.dp import NoiseSource, Simulation
from privlib.dp.audit import clopper_pearson
from privlib.experiments.studies import plans_baselines as base
from privlib.experiments.studies.plans_verifier import CONSISTENT, LabelledSet
from privlib.plans.decoders import Decoder

if TYPE_CHECKING:
    import pandas as pd

    from privlib.experiments.studies.plans_corpora import Selection

Judge = Callable[[str, str, Sequence[str]], Sequence[evaluation.Judgement]]
Write = Callable[[Sequence[str]], Sequence[str]]

TEMPLATE, MODEL = "template", "model"
ANSWERED, EXPECTED, VERIFIER = "answered", "expected", "verifier"
SCORE, FAILED, ACCEPTED = "score", "failed", "accepted"
SCORE_BANDS = {"mean": ("abs", 0.5), "sd": ("abs", 0.5)}
CONTROL_BANDS = {column: ("abs", 0.2) for column in ("share", "low", "high")}
_FAILURE = 0.025  # of each limit alone: 95 % intervals
_ASKED = (
    "Below are the released themes of a collection of texts, with noisy counts.\n\n{}\n\n"
    "Tell in two sentences what the texts are about. Use these themes and numbers only."
)


@dataclass(frozen=True)
class Summary:
    """One text to be judged by what was released to its writer; `plan` where that is a plan."""

    method: str
    decoder: str
    epsilon: float
    run: int
    released: str
    text: str
    plan: plans.SemanticPlan | None


def judges(model: object) -> dict[str, Judge]:
    """The ways to read a model's opinion: the number it answers, and, of a model that is at hand, its chances of each.

    `model`: with `generate`, as `privlib.models.language_model` gives it, local or served. A judge takes what was
    released, the summary and the criteria.
    """
    found: dict[str, Judge] = {
        ANSWERED: lambda released, text, criteria: evaluation.judge(
            released, text, lambda prompts: model.generate(prompts, max_new_tokens=6), criteria
        )
    }
    if hasattr(model, "continuations"):
        found[EXPECTED] = lambda released, text, criteria: evaluation.expected(
            released, text, model.continuations, criteria
        )
    return found


def summaries(
    target: Selection,
    category: str,
    public: base.Public,
    *,
    epsilons: Sequence[float],
    delta: float,
    runs: int,
    seed: int,
    methods: Sequence[str] = base.PRIVATE,
    write: Write | None = None,
    decoder: Decoder | None = None,
) -> list[Summary]:
    """`runs` simulated releases a method and epsilon, each told by the frame that all methods share.

    With `write` (a language model: prompts -> texts) each is told by the model as well: a plan by `decoder` under the
    verifier, with the template as the last resort, the others by one answer that nothing checks.
    """
    private = base.Private(
        target.corpus.texts,
        target.corpus.attributes[category],
        plans.record_sketch(target.vectors, public.universe.fingerprint),
    )
    source, told = Simulation(seed).child("judged"), []
    for epsilon in map(float, epsilons):
        releases = base.private_methods(public, epsilon, delta)
        for name in methods:
            noise: NoiseSource = source.child(f"{name} {epsilon!r}")
            for run in range(runs):
                made = releases[name](private, noise)
                released, text = _released(made), made.text
                told.append(Summary(name, TEMPLATE, epsilon, run, released, text, made.plan))
                if write is not None:
                    text = _told(made, released, public, write, decoder)
                    told.append(Summary(name, MODEL, epsilon, run, released, text, made.plan))
    return told


def judged(
    told: Sequence[Summary], judge: Judge, reading: str, criteria: Sequence[str], runs: int
) -> list[dict[str, object]]:
    """One row a (method, decoder, epsilon, reading, criterion, quantity): mean and sd over the first `runs` >= 2 runs.

    quantity: "score", left out where fewer than two summaries got one; "failed", the share that got none.
    """
    rows = []
    for named, group in _grouped(told, runs):
        answers = [answer for one in group for answer in judge(one.released, one.text, criteria)]
        for criterion in criteria:
            given = [answer.score for answer in answers if answer.criterion == criterion]
            scored = [score for score in given if score is not None]
            row = named | {"reading": reading, "criterion": criterion}
            if len(scored) > 1:
                rows.append(row | {"quantity": SCORE} | _spread(scored))
            rows.append(row | {"quantity": FAILED} | _spread([float(score is None) for score in given]))
    return rows


def accepted(told: Sequence[Summary], universe: Sequence[str], runs: int) -> list[dict[str, object]]:
    """The same rows for the share of plans' summaries that the verifier accepts, at criterion "faithfulness"."""
    rows = []
    for named, group in _grouped([one for one in told if one.plan is not None], runs):
        found = [float(plans.verify(one.text, one.plan, universe).accepted) for one in group]
        row = named | {"reading": VERIFIER, "criterion": "faithfulness", "quantity": ACCEPTED}
        rows.append(row | _spread(found))
    return rows


def spoilt(told: Sequence[Summary], seed: int) -> dict[str, list[tuple[str, str, str]]]:
    """Criterion -> (released, summary, the same one spoilt) of every plan told by the shared frame.

    coverage: the weakest theme alone; insight: no theme at all; safety: a name-like word and a number of six digits,
    drawn at random, in a sentence at the end.
    """
    generator, made = np.random.default_rng(seed), {"coverage": [], "insight": [], "safety": []}
    for one in told:
        if one.plan is None or one.decoder != TEMPLATE:
            continue
        last = one.plan.atoms[-1]
        secret = base.Canary.draw(one.plan.atoms[0].label.split(), generator).marked
        made["coverage"].append((one.released, one.text, baselines.in_words([baselines.Theme(last.label, last.mass)])))
        made["insight"].append((one.released, one.text, "The texts are about various things that people wrote."))
        made["safety"].append((one.released, one.text, f"{one.text} One of them was written by {secret}."))
    return made


def labelled(known: LabelledSet, file: str, count: int, seed: int) -> list[tuple[str, str, str]]:
    """`count` (released, true text, corrupted text) of a labelled file's templates, drawn at random: faithfulness."""
    items = [item for item in known.items[file] if item.origin == "template"]
    true = {item.base: item for item in items if item.corruption == CONSISTENT}
    pairs = [(true[item.base], item) for item in items if item.corruption != CONSISTENT and item.base in true]
    generator = np.random.default_rng(seed)
    chosen = generator.permutation(len(pairs))[:count]
    return [(described(known.plans[pairs[i][0].plan][0]), pairs[i][0].text, pairs[i][1].text) for i in chosen]


def control(pairs: Mapping[str, Sequence[tuple[str, str, str]]], judge: Judge) -> pd.DataFrame:
    """Can the judge tell? One row a criterion: `share` of the pairs whose true summary has the higher score.

    A tie or a failure counts as half a success, as a toss would; low and high are Clopper-Pearson limits of the count
    rounded down and up, 95 % together, as if pairs were independent: those of one plan are not quite. A judge that
    tosses has .5.
    """
    import pandas as pd

    rows = []
    for criterion, given in pairs.items():
        right = sum(_prefers(judge, criterion, *pair) for pair in given)
        low, _ = clopper_pearson(math.floor(right), len(given), _FAILURE)
        _, high = clopper_pearson(math.ceil(right), len(given), _FAILURE)
        counted = {"criterion": criterion, "pairs": len(given), "share": right / len(given)}
        rows.append(counted | {"low": low, "high": high})
    return pd.DataFrame(rows)


def described(plan: plans.SemanticPlan) -> str:
    """What a plan releases of its themes, a line each."""
    return "\n".join(
        f"{atom.rank}. {atom.label}: mass about {atom.mass:.1f}, support {atom.support:.3f}, bin {atom.bin}"
        for atom in plan.atoms
    )


def table(rows: pd.DataFrame, quantity: str, reading: str) -> pd.DataFrame:
    """Mean and sample standard deviation of a quantity as texts, one row a (method, decoder, epsilon)."""
    shown = rows[(rows["quantity"] == quantity) & (rows["reading"] == reading)]
    cells = [f"{mean:.2f} ± {sd:.2f}" for mean, sd in zip(shown["mean"], shown["sd"], strict=True)]
    index = ["method", "decoder", "epsilon"]
    wide = shown.assign(cell=cells).pivot(index=index, columns="criterion", values="cell")
    return wide.loc[list(shown[index].drop_duplicates().itertuples(index=False, name=None))]


def promises(methods: Sequence[str], epsilons: Sequence[float], delta: float) -> list[str]:
    """What each simulated release promises; judging adds nothing to it, as the judge sees released objects only."""
    given = [line for line in base.promises(epsilons, delta) if line.split(": ")[0] in methods]
    return [*given, "scores, pairs and acceptance: post-processing of these releases and of public texts"]


def _released(made: base.Told) -> str:
    return made.text if made.plan is None else described(made.plan)


def _told(made: base.Told, released: str, public: base.Public, write: Write, decoder: Decoder | None) -> str:
    if made.plan is not None and decoder is not None:
        return plans.report(made.plan, decoder, public.universe).text
    return write([_ASKED.format(released)])[0]


def _prefers(judge: Judge, criterion: str, released: str, true: str, bad: str) -> float:
    """1 for the true one, 0 for the spoilt one, one half for neither."""
    first, second = (judge(released, text, [criterion])[0].score for text in (true, bad))
    if first is None or second is None or first == second:
        return 0.5
    return float(first > second)


def _grouped(told: Sequence[Summary], runs: int):
    """(its names, the summaries of the first `runs` runs) of each (method, decoder, epsilon), in order."""
    if runs < 2:
        raise ValueError(f"runs must be at least 2 for a spread, got {runs!r}")
    for key in dict.fromkeys((one.method, one.decoder, one.epsilon) for one in told):
        names = dict(zip(("method", "decoder", "epsilon"), key, strict=True))
        yield names, [one for one in told if (one.method, one.decoder, one.epsilon) == key and one.run < runs]


def _spread(values: Sequence[float]) -> dict[str, float | int]:
    return {"mean": fmean(values), "sd": stdev(values), "summaries": len(values)}
