"""Training a local language model by low-rank adapters, with a gradient of each text of its own.

Per-text gradients come from Opacus' hooks on the adapters of PEFT. Clipping, noise and the choice of texts are not
done here: whoever trains privately must see every text's gradient before any sum (`privlib.baselines.DPFineTuning`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from privlib.dp import checks
from privlib.models import local, weights
from privlib.models import prompts as shared
from privlib.models.encoders import strings

PUBLIC_TEXTS = "the learner's public texts are public"
_TRAINED = ("q_proj", "v_proj")


@dataclass(frozen=True)
class LoraLearner:
    """Calling it with a public seed gives a fresh session on a fresh copy of the model.

    model: a local causal model, e.g. `language_model()`. opening: public words before every text; samples continue
    them. rank, layers: of the adapters, on queries and values of the last `layers` layers. learning_rate: of Adam.
    max_tokens: a longer text is cut. temperature: of samples, > 0. public_texts: read once, `batch` a step and without
    noise, before the session is handed over: private texts need not teach what public ones of their kind can. A
    corpus that is marked private is refused; a list of strings cannot be.
    """

    model: local.LocalLanguageModel
    opening: str = "Message:"
    rank: int = 2
    layers: int = 8
    learning_rate: float = 1e-3
    max_tokens: int = 48
    temperature: float = 1.0
    public_texts: tuple[str, ...] = field(default=(), repr=False)
    batch: int = 8

    def __post_init__(self) -> None:
        checks.instance("model", self.model, local.LocalLanguageModel)
        checks.instance("opening", self.opening, str)
        checks.settle(self, rank=checks.whole, layers=checks.whole, max_tokens=checks.whole, batch=checks.whole)
        checks.settle(self, learning_rate=checks.positive, temperature=checks.positive)
        if getattr(getattr(self.public_texts, "provenance", None), "public", True) is not True:
            raise ValueError("public_texts must be public: this corpus is marked private, and no noise hides its texts")
        object.__setattr__(self, "public_texts", tuple(strings(self.public_texts, "public_texts")))
        if not self.opening.strip():
            raise ValueError("opening must hold a word, or samples would begin from nothing")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a guarantee of training this learner rests on besides: see `privlib.baselines.DPFineTuning`."""
        return (PUBLIC_TEXTS,) if self.public_texts else ()

    def __call__(self, public_seed: int) -> LoraSession:
        return LoraSession(self, public_seed)


class LoraSession:
    """One model in training; see `LoraLearner`.

    Attributes: `size`, how many numbers the adapters have.
    """

    def __init__(self, learner: LoraLearner, public_seed: int) -> None:
        import torch

        self._learner = learner
        self._tokenizer, body = local.fresh(learner.model.folder)
        with weights.quiet(), warnings.catch_warnings(), torch.random.fork_rng():
            warnings.simplefilter("ignore")  # Opacus warns of hooks on modules that it does not train
            from opacus import GradSampleModule
            from peft import LoraConfig, get_peft_model

            torch.manual_seed(public_seed)
            last = body.config.num_hidden_layers
            config = LoraConfig(
                r=learner.rank, lora_alpha=learner.rank, lora_dropout=0.0, target_modules=list(_TRAINED),
                layers_to_transform=list(range(max(0, last - learner.layers), last)),
            )  # fmt: skip
            self._model = get_peft_model(body, config).train()
            self._hooked = GradSampleModule(self._model, loss_reduction="sum", strict=False)
        self._trained = [p for p in self._model.parameters() if p.requires_grad]
        self._optimizer = torch.optim.Adam(self._trained, lr=learner.learning_rate)
        self.size = sum(p.numel() for p in self._trained)
        coins = np.random.default_rng(public_seed)
        order = coins.permutation(len(learner.public_texts))
        for start in range(0, len(order), learner.batch):
            some = [learner.public_texts[row] for row in order[start : start + learner.batch]]
            self.step(self.gradients(some).mean(axis=0))

    def gradients(self, texts: Sequence[str]) -> np.ndarray:
        """float32[n, size]: gradient of each text's mean negative log-likelihood a token, its end included."""
        import torch

        rows = [self._tokens(text) for text in strings(texts)]
        width = max(map(len, rows))
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = 1
        self._model.train()
        logits = self._hooked(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
        told = logits.gather(2, ids[:, 1:, None])[..., 0] - logits.logsumexp(2)
        counted = mask[:, 1:]
        with warnings.catch_warnings():
            # The first adapter's input has no gradient, and none is needed: its weights have theirs.
            warnings.filterwarnings("ignore", "Full backward hook")
            (-(told * counted).sum(1) / counted.sum(1)).sum().backward()
        found = torch.cat([p.grad_sample.reshape(len(rows), -1) for p in self._trained], dim=1).numpy().copy()
        self._forget()
        return found

    def step(self, gradient: np.ndarray) -> None:
        """One step of Adam against float[size]."""
        import torch

        flat = torch.from_numpy(np.asarray(gradient, dtype=np.float32))
        if flat.shape != (self.size,):
            raise ValueError(f"gradient must have shape ({self.size},), got {tuple(flat.shape)}")
        start = 0
        for p in self._trained:
            p.grad = flat[start : start + p.numel()].reshape(p.shape).clone()
            start += p.numel()
        self._optimizer.step()
        self._forget()

    def sample(self, count: int, seed: int) -> list[str]:
        """`count` continuations of the opening, up to the end of their first line."""
        self._model.eval()
        rows = [self._tokenizer(self._learner.opening, add_special_tokens=False).input_ids] * count
        drawn = shared.seeds([self._learner.opening] * count, seed)
        texts = []
        for start in range(0, count, 8):
            noise = [np.random.default_rng(value) for value in drawn[start : start + 8]]
            found = local.continued(
                self._model, rows[start : start + 8], self._learner.max_tokens, self._learner.temperature, noise
            )
            texts += [self._tokenizer.decode(row, skip_special_tokens=True) for row in found]
        return [(text.strip().splitlines() or [""])[0].strip() for text in texts]

    def _tokens(self, text: str) -> list[int]:
        start = self._tokenizer(self._learner.opening, add_special_tokens=False).input_ids
        own = self._tokenizer(" " + text, add_special_tokens=False).input_ids[: self._learner.max_tokens]
        return [*start, *own, self._tokenizer.eos_token_id]

    def _forget(self) -> None:
        for p in self._trained:
            p.grad = p.grad_sample = None
