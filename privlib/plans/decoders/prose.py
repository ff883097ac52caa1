"""Free text by a language model that is shown the plan and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from privlib.plans.decoders.asking import Generate, asked, check_atoms_at_once, grouped, mistakes
from privlib.plans.decoders.attempts import FORM, Attempt, Candidate, Decoder, feedback, mentioned
from privlib.plans.decoders.sentences import reading
from privlib.plans.plan import Atom, SemanticPlan
from privlib.plans.verifier import Violation

_BREAK = "\n\n"
_SENTENCES = re.compile(r""".*[.!?]["'”’)]*(?= |$)""")
_SUMMARIZE = "Summarize for a report, in your own words. Use only these names and numbers."
_REWRITE = "Rewrite as one paragraph. Keep every name and number."


def free_text(generate: Generate, atoms_at_once: int = 3) -> Decoder:
    """A decoder that has a language model write one paragraph for every few atoms.

    A rejected attempt is mended: paragraphs with a violation are asked for again, with feedback and one atom at a
    time; the others stay. A paragraph must name one of its atoms. The last paragraph is public text on how to read
    a support.
    `generate`: see `Generate`; all it receives is `prose_prompt`, a function of plan and attempts, so its text is
    post-processing as long as its own randomness does not depend on the protected texts (Theorem 5.8).
    `atoms_at_once` >= 1: themes a paragraph; small models lose the thread of long lists.
    Raises ValueError for `atoms_at_once` < 1, and for a `generate` that does not give one str a prompt.
    Source: DP-SPIN, Sections 4.3 and 6.5; prompt, mending and the two public rules are ours.
    """
    check_atoms_at_once(atoms_at_once)

    def decode(plan: SemanticPlan, attempts: tuple[Attempt, ...]) -> Candidate:
        groups = grouped(plan, atoms_at_once)
        kept = attempts[-1].answers if attempts else ()
        faulty = _complaints(attempts[-1]) if attempts else dict.fromkeys(range(len(groups)), "")
        # a model that erred on several themes is asked about each by itself
        asking = {k: [(atom,) for atom in groups[k]] if attempts else [groups[k]] for k in faulty}
        prompts = {k: [prose_prompt(part, len(attempts), faulty[k]) for part in parts] for k, parts in asking.items()}
        answers = asked(generate, prompts, kept, len(groups))
        text = _BREAK.join([*map(_paragraph, answers), reading(plan)])
        return Candidate(text, answers, _silent(plan, groups, answers))

    return decode


def prose_prompt(atoms: Sequence[Atom], attempt: int = 0, complaint: str = "") -> str:
    """What the model is asked about a few atoms; `complaint` is the feedback on the attempt before number `attempt`."""
    facts = [
        f'The theme "{atom.label}"{f" ({atom.description})" if atom.description else ""} has a support of '
        f"{100 * atom.support:.1f}%, which is {atom.bin}."
        for atom in atoms
    ]
    # once its own words were wrong, a small model does better when it is not asked for any
    task = _REWRITE if attempt else _SUMMARIZE
    return mistakes(attempt, complaint) + f"{task}\n\n" + "\n".join(facts)


def _paragraph(answer: str) -> str:
    """The answer on one line, without ends of its blocks that are no whole sentence: the limit of tokens cut them."""
    blocks = [" ".join(block.split()) for block in answer.split(_BREAK)]
    whole = [found.group() for block in blocks if (found := _SENTENCES.match(block))]
    return " ".join(whole or [block for block in blocks if block])


def _spans(answers: Sequence[str]) -> list[tuple[int, int]]:
    """Where each answer's paragraph stands in the text."""
    spans, start = [], 0
    for answer in answers:
        spans.append((start, start + len(_paragraph(answer))))
        start = spans[-1][1] + len(_BREAK)
    return spans


def _silent(plan: SemanticPlan, groups: Sequence[Sequence[Atom]], answers: Sequence[str]) -> tuple[Violation, ...]:
    """A fault for each paragraph that names none of its atoms."""
    faults = []
    for group, answer, span in zip(groups, answers, _spans(answers), strict=True):
        if not {atom.label for atom in group} & set(mentioned(_paragraph(answer), plan)):
            faults.append(Violation(FORM, span, "this names none of the themes"))
    return tuple(faults)


def _complaints(attempt: Attempt) -> dict[int, str]:
    """Feedback by number of the paragraph, where there is any."""
    found = {}
    for k, (start, end) in enumerate(_spans(attempt.answers)):
        inside = [v for v in attempt.verdict.violations if start <= v.span[0] <= end]
        if inside:
            found[k] = feedback(attempt.text, inside)
    return found or dict.fromkeys(range(len(attempt.answers)), attempt.feedback)
