"""Generation and scoring with a model on this machine, on the CPU, in float32."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from privlib.models import continuing, conversion, weights
from privlib.models import prompts as shared
from privlib.models.encoders import strings

_BATCH_PROMPTS = 8
# Log-probabilities over a vocabulary of 49,152 take 200 MB for this many tokens.
_BATCH_TOKENS = 1024
_SEPARATOR = "<|endoftext|>"


@dataclass(frozen=True)
class LocalLanguageModel:
    """A causal model read from a folder when first used; see `LanguageModel` for the interface.

    A prompt becomes one user turn of the model's chat template where it has one. The packaged model's
    folder is made from its GGUF on first use.
    """

    name: str
    checksum: str
    folder: Path | None = field(repr=False, compare=False)

    def generate(
        self, prompts: Sequence[str], max_new_tokens: int = 128, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """See `LanguageModel.generate`. Raises ValueError when a prompt and its answer cannot fit."""
        return self._continued(_prompt_tokens, prompts, max_new_tokens, temperature, seed)

    def complete(
        self, prompts: Sequence[str], max_new_tokens: int = 128, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """As `generate`, but a prompt is the beginning of a document, without the chat template.

        Small models keep to a form shown by examples in a document when they do not keep to one asked for in a chat.
        """
        return self._continued(_document_tokens, prompts, max_new_tokens, temperature, seed)

    def continuations(self, prompt: str, beginnings: Sequence[str], count: int) -> list[list[tuple[str, float]]]:
        """For each beginning, the `count` likeliest next pieces of text after prompt + beginning, likeliest first.

        Each is (piece, natural logarithm of its chance); a piece is one token as text, with its space before it. Ends
        of the document and pieces that are no whole characters are left out, so there may be fewer than `count`.
        `prompt` (at least one token) is the beginning of a document, as for `complete`; a beginning may be empty.
        """
        return continuing.continuations(_load(self.folder), prompt, strings(beginnings), count)

    def _continued(self, tokens, prompts: Sequence[str], max_new_tokens: int, temperature: float, seed: int):
        texts = shared.check(prompts, max_new_tokens, temperature)
        if not texts:
            return []
        tokenizer, model = _load(self.folder)
        encoded = [tokens(tokenizer, text) for text in texts]
        _check_fits(model, max(map(len, encoded)) + max_new_tokens, "prompt and answer")
        drawn = shared.seeds(texts, seed)
        order = sorted(range(len(texts)), key=lambda i: (len(encoded[i]), texts[i]))
        out = [""] * len(texts)
        for start in range(0, len(order), _BATCH_PROMPTS):
            batch = order[start : start + _BATCH_PROMPTS]
            noise = [np.random.default_rng(drawn[i]) for i in batch] if temperature > 0 else None
            rows = continued(model, [encoded[i] for i in batch], max_new_tokens, temperature, noise)
            for i, row in zip(batch, rows, strict=True):
                out[i] = tokenizer.decode(row, skip_special_tokens=True).strip()
        return out

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """Mean negative log-likelihood a token, in nats: float64[n].

        The text is read as a document of its own, without the chat template: after the separator
        `<|endoftext|>` where the vocabulary has it, else after the beginning-of-sequence token; where
        there is neither, the first token has no prediction and is left out.

        Raises ValueError when a text has no token to score or more tokens than the model's context.
        """
        listed = strings(texts)
        if not listed:
            return np.empty(0)
        tokenizer, model = _load(self.folder)
        start = _start(tokenizer)
        encoded = [start + tokenizer(text, add_special_tokens=False).input_ids for text in listed]
        shortest, longest = min(map(len, encoded)), max(map(len, encoded))
        if shortest < 2:
            raise ValueError(f"texts must each hold a token to score, got one with {shortest - len(start)} tokens")
        _check_fits(model, longest, "text")
        order = sorted(range(len(listed)), key=lambda i: (len(encoded[i]), listed[i]))
        out = np.empty(len(listed))
        while order:
            width = max(1, _BATCH_TOKENS // len(encoded[order[-1]]))
            batch, order = order[-width:], order[:-width]
            out[batch] = _mean_nll(model, [encoded[i] for i in batch])
        return out


def _prompt_tokens(tokenizer, prompt: str) -> list[int]:
    if tokenizer.chat_template:
        turn = [{"role": "user", "content": prompt}]
        text = tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=False)
        return tokenizer(text, add_special_tokens=False).input_ids
    tokens = tokenizer(prompt).input_ids
    if not tokens:
        raise ValueError("prompts must each hold a token: this model has no chat template and no start token")
    return tokens


def _document_tokens(tokenizer, prompt: str) -> list[int]:
    tokens = tokenizer(prompt, add_special_tokens=False).input_ids
    if not tokens:
        raise ValueError("prompts must each hold a token to be completed")
    return tokens


def _start(tokenizer) -> list[int]:
    if _SEPARATOR in tokenizer.get_vocab():
        return [tokenizer.convert_tokens_to_ids(_SEPARATOR)]
    return [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]


def _check_fits(model, length: int, what: str) -> None:
    limit = getattr(model.config, "max_position_embeddings", None)
    if limit is not None and length > limit:
        raise ValueError(f"{what} must fit the model's context of {limit} tokens, got {length}")


def continued(model, rows: list[list[int]], max_new_tokens: int, temperature: float, noise) -> list[list[int]]:
    """Tokens that a model puts after each row of tokens; `noise`: a generator a row, or None for the likeliest."""
    import torch
    from transformers import LogitsProcessorList

    width = max(map(len, rows))
    ids = torch.full((len(rows), width), model.generation_config.pad_token_id)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, width - len(row) :] = torch.tensor(row)
        mask[i, width - len(row) :] = 1

    def perturb(_, scores):
        # Gumbel-max: the likeliest token after adding Gumbel noise of a prompt's own generator is a
        # draw at this temperature, so a row needs no random state shared with other rows.
        gumbel = np.stack([-np.log(rng.standard_exponential(scores.shape[1])) for rng in noise])
        return scores.double() / temperature + torch.from_numpy(gumbel)

    processors = LogitsProcessorList([perturb] if noise else [])
    with torch.inference_mode(), weights.quiet():
        found = model.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=max_new_tokens, do_sample=False,
            logits_processor=processors,
        )  # fmt: skip
    return found[:, width:].tolist()


def _mean_nll(model, rows: list[list[int]]) -> np.ndarray:
    import torch

    width = max(map(len, rows))
    ids = torch.zeros((len(rows), width), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    with torch.inference_mode():
        logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
        picked = logits.gather(2, ids[:, 1:, None])[..., 0] - logits.logsumexp(2)
    counted = mask[:, 1:].double()
    return (-(picked.double() * counted).sum(1) / counted.sum(1)).numpy()


@functools.lru_cache(maxsize=1)
def _load(folder: Path | None):
    return fresh(folder)


def fresh(folder: Path | None):
    """(tokenizer, model) read from a folder, the packaged one where None: a copy that the caller may change."""
    folder = conversion.packaged_folder() if folder is None else folder
    with weights.quiet():
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
        # A folder's own sampling defaults (top-k, penalties) would change what temperature means here.
        stop = model.generation_config.eos_token_id
        stop = tokenizer.eos_token_id if stop is None else stop
        first = stop[0] if isinstance(stop, list) else stop
        model.generation_config = GenerationConfig(eos_token_id=stop, pad_token_id=0 if first is None else first)
    return tokenizer, model.eval()
