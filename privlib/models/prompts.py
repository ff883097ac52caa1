"""What local and served generation share: checked arguments and one seed a prompt."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

from privlib.models.encoders import strings


def check(prompts: Sequence[str], max_new_tokens: int, temperature: float) -> list[str]:
    """Prompts as a list. Raises TypeError for other than strings, ValueError for a value out of range."""
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens must be at least 1, got {max_new_tokens!r}")
    if not (temperature >= 0.0 and math.isfinite(temperature)):
        raise ValueError(f"temperature must be finite and at least 0, got {temperature!r}")
    return strings(prompts)


def seeds(prompts: Sequence[str], seed: int) -> list[int]:
    """One 64-bit seed a prompt, from (seed, prompt, number of equal prompts before it)."""
    met: Counter[str] = Counter()
    out = []
    for prompt in prompts:
        content = f"{seed}\0{met[prompt]}\0{prompt}".encode("utf-8", "surrogatepass")
        out.append(int.from_bytes(hashlib.sha256(content).digest()[:8], "big"))
        met[prompt] += 1
    return out
