"""What local and served generation share: checked arguments and one seed a prompt."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from privlib.dp import checks
from privlib.models.encoders import strings


def check(prompts: Sequence[str], max_new_tokens: int, temperature: float) -> list[str]:
    """Prompts as a list. Raises TypeError for other than strings and numbers, ValueError for a value out of range."""
    checks.whole("max_new_tokens", max_new_tokens)
    checks.nonnegative("temperature", temperature)
    return strings(prompts, "prompts")


def seeds(prompts: Sequence[str], seed: int) -> list[int]:
    """One 64-bit seed a prompt, from (seed, prompt, number of equal prompts before it)."""
    met: Counter[str] = Counter()
    out = []
    for prompt in prompts:
        content = f"{seed}\0{met[prompt]}\0{prompt}".encode("utf-8", "surrogatepass")
        out.append(int.from_bytes(hashlib.sha256(content).digest()[:8], "big"))
        met[prompt] += 1
    return out
