"""How a model on this machine would go on: the likeliest next pieces of several beginnings after one prompt.

The prompt is read once and kept, so that a search that asks again and again pays for the beginnings alone.
"""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Sequence

from privlib.dp import checks
from privlib.models import prompts as shared


def continuations(loaded, prompt: str, beginnings: Sequence[str], count: int) -> list[list[tuple[str, float]]]:
    """See `LocalLanguageModel.continuations`; `loaded` is its (tokenizer, model)."""
    import torch

    count = checks.whole("count", count)
    (prompt,) = shared.check([prompt], 1, 0.0)
    tokenizer, model = loaded
    kept, first = _read(loaded, prompt)
    rows = [tokenizer(beginning, add_special_tokens=False).input_ids for beginning in beginnings]
    alike = defaultdict(list)  # rows of one length go together: no padding between the prompt and what follows
    for place, row in enumerate(rows):
        alike[len(row)].append(place)
    out: list[list[tuple[str, float]]] = [[] for _ in rows]
    for length, places in alike.items():
        if length:
            cache = copy.deepcopy(kept)
            cache.batch_repeat_interleave(len(places))
            with torch.inference_mode():
                ids = torch.tensor([rows[place] for place in places])
                logits = model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1).logits[:, -1]
        else:
            logits = first.expand(len(places), -1)
        for place, found in zip(places, _likeliest(tokenizer, logits, count), strict=True):
            out[place] = found
    return out


def _likeliest(tokenizer, logits, count: int) -> list[list[tuple[str, float]]]:
    import torch

    special = torch.tensor(sorted(tokenizer.all_special_ids), dtype=torch.long)
    logits = logits.float().clone()
    logits[:, special] = -torch.inf  # the end of a document is no piece of text
    values, places = torch.log_softmax(logits, -1).topk(min(count, logits.shape[1] - len(special)), -1)
    found = []
    for tokens, log_chances in zip(places.tolist(), values.tolist(), strict=True):
        pieces = zip(tokenizer.batch_decode([[token] for token in tokens]), log_chances, strict=True)
        found.append([(piece, chance) for piece, chance in pieces if piece and "\ufffd" not in piece])
    return found


@functools.lru_cache(maxsize=1)
def _read(loaded, prompt: str):
    import torch

    tokenizer, model = loaded
    ids = tokenizer(prompt, add_special_tokens=False).input_ids
    if not ids:
        raise ValueError("prompt must hold a token to be continued")
    with torch.inference_mode():
        found = model(input_ids=torch.tensor([ids]), use_cache=True, logits_to_keep=1)
    return found.cache, found.logits[:, -1]
