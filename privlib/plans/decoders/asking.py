"""What both language-model decoders share: a few atoms a prompt, answers kept or asked for again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from privlib.plans.plan import Atom, SemanticPlan

Generate = Callable[[list[str]], Sequence[str]]
"""A language model as decoders see it: prompts in, one answer a prompt out, every setting fixed beforehand.

`functools.partial(models.language_model().generate, max_new_tokens=80, temperature=0.7, seed=7)` is one, and so is
the same of a served model.
"""


def grouped(plan: SemanticPlan, atoms_at_once: int) -> list[tuple[Atom, ...]]:
    """The atoms by rank in the fewest groups of at most `atoms_at_once`, sizes within one of each other."""
    count = -(-len(plan.atoms) // atoms_at_once)
    cuts = [round(k * len(plan.atoms) / count) for k in range(count + 1)] if count else [0]
    return [plan.atoms[low:high] for low, high in pairwise(cuts)]


def asked(generate: Generate, prompts: Mapping[int, Sequence[str]], kept: Sequence[str], count: int) -> tuple[str, ...]:
    """`count` answers: new ones to `prompts` (by place; a blank line between those of one place), `kept` elsewhere."""
    flat = [prompt for several in prompts.values() for prompt in several]
    answers = list(generate(flat)) if flat else []
    if len(answers) != len(flat) or not all(isinstance(answer, str) for answer in answers):
        kinds = sorted({type(answer).__name__ for answer in answers})
        raise ValueError(f"generate must return {len(flat)} str, one a prompt, got {len(answers)} of {kinds}")
    left = iter(answers)
    written = {k: "\n\n".join(next(left) for _ in several) for k, several in prompts.items()}
    return tuple(written[k] if k in written else kept[k] for k in range(count))


def mistakes(attempt: int, complaint: str) -> str:
    """The head of a prompt after a rejection; the number keeps equal complaints from drawing an equal answer."""
    return f"Mistakes of answer {attempt}, not to be made again:\n{complaint}\n\n" if attempt else ""


def check_atoms_at_once(atoms_at_once: int) -> None:
    """ValueError unless an integer of at least 1."""
    if isinstance(atoms_at_once, bool) or not isinstance(atoms_at_once, int) or atoms_at_once < 1:
        raise ValueError(f"atoms_at_once must be an integer of at least 1, got {atoms_at_once!r}")
