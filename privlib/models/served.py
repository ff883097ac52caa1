"""Generation by an OpenAI-compatible server, through the `openai` client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from privlib.models import prompts as shared

_SEED_RANGE = 2**31  # servers read seeds as 32-bit signed integers


@dataclass(frozen=True)
class ServedLanguageModel:
    """A model behind an endpoint; see `LanguageModel` for the interface.

    Requests go one after another: many servers keep one random state for all requests, and answers to
    seeded requests would mix. Whether a seed or a temperature is heeded is the server's to keep.
    """

    name: str
    checksum: None
    endpoint: str
    api_key: str | None = field(repr=False, compare=False)

    def generate(
        self, prompts: Sequence[str], max_new_tokens: int = 128, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """See `LanguageModel.generate`.

        Raises:
            ConnectionError: nobody answers at the endpoint.
            RuntimeError: the server refuses, or answers without text; names the server's status.
        """
        texts = shared.check(prompts, max_new_tokens, temperature)
        import openai

        # The client refuses an empty key, and would else send $OPENAI_API_KEY to whatever endpoint this is.
        key = self.api_key or "none"
        out = []
        with openai.OpenAI(base_url=self.endpoint, api_key=key) as client:
            for text, drawn in zip(texts, shared.seeds(texts, seed), strict=True):
                try:
                    answer = client.chat.completions.create(
                        model=self.name,
                        messages=[{"role": "user", "content": text}],
                        max_tokens=max_new_tokens,
                        temperature=temperature,
                        seed=drawn % _SEED_RANGE,
                    )
                except openai.APIConnectionError as cause:
                    raise ConnectionError(f"no language model answers at endpoint {self.endpoint!r}") from cause
                except openai.APIStatusError as cause:
                    raise RuntimeError(
                        f"endpoint {self.endpoint!r} refused model {self.name!r} with HTTP status {cause.status_code}"
                    ) from cause
                choices = getattr(answer, "choices", None)  # a page that is no API answer comes as a str
                content = choices[0].message.content if choices else None
                if content is None:
                    raise RuntimeError(f"endpoint {self.endpoint!r} answered without text for model {self.name!r}")
                out.append(content.strip())
        return out

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """Always raises: chat endpoints give no log-probabilities of a given text."""
        raise RuntimeError(
            f"endpoint {self.endpoint!r} gives no log-probabilities of a given text, so model {self.name!r} "
            "cannot score; score with a local model, e.g. models.language_model()"
        )
