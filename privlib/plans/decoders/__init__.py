"""Stage III of DP-SPIN: text from a plan by template, language model or structured claims, verified, with a fallback.

`report` runs a `Decoder`; `template()`, `free_text(generate)` and `structured_claims(generate)` make one. What a
decoder sees is a `SemanticPlan` and the attempts before: no argument leads to the protected texts.
"""

from __future__ import annotations

from privlib.plans.decoders.asking import Generate
from privlib.plans.decoders.attempts import (
    FORM,
    MAX_ATTEMPTS,
    Attempt,
    Candidate,
    Decoder,
    Report,
    feedback,
    mentioned,
    report,
)
from privlib.plans.decoders.prose import free_text, prose_prompt
from privlib.plans.decoders.sentences import supported_comparisons, template
from privlib.plans.decoders.structured import claims_prompt, structured_claims

__all__ = [
    "FORM",
    "MAX_ATTEMPTS",
    "Attempt",
    "Candidate",
    "Decoder",
    "Generate",
    "Report",
    "claims_prompt",
    "feedback",
    "free_text",
    "mentioned",
    "prose_prompt",
    "report",
    "structured_claims",
    "supported_comparisons",
    "template",
]
