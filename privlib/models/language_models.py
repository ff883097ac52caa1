"""Language models behind one interface: the packaged one, a local folder, or a served endpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from privlib import assets
from privlib.models import conversion, weights
from privlib.models.local import LocalLanguageModel
from privlib.models.served import ServedLanguageModel


class LanguageModel(Protocol):
    """What users of a language model rely on.

    Attributes:
        name: for records and figures.
        checksum: SHA-256 of the weights; None for a served model, whose weights cannot be checked.
    """

    name: str
    checksum: str | None

    def generate(
        self, prompts: Sequence[str], max_new_tokens: int = 128, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """One answer a prompt, without the prompt, stripped of white space at both ends.

        Temperature 0 takes the likeliest token each time. Otherwise the draws of a prompt depend on
        (seed, prompt, how often the prompt occurred before in this call) and on nothing else, so an
        answer does not change with the prompts beside it, up to float noise between batches, and
        repeating a prompt gives different answers.
        """
        ...

    def score(self, texts: Sequence[str]) -> np.ndarray:
        """Mean negative log-likelihood a token, in nats: float64[n]."""
        ...


def language_model(
    name_or_path: str | os.PathLike | None = None,
    endpoint: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
) -> LanguageModel:
    """A language model.

    Args:
        name_or_path: None for the packaged SmolLM2-135M-Instruct (4-bit weights, Apache-2.0), a folder
            in transformers' format (never asks the network), or a hub name.
        endpoint: base URL of an OpenAI-compatible server instead, e.g. "http://127.0.0.1:8000/v1".
            Everything in a prompt leaves this machine: no private text without a reason.
        model: the name the server knows its model by; needed with `endpoint`, and only with it.
        api_key: the server's key, if it asks for one; never taken from the environment.
    Raises:
        ValueError: arguments that exclude each other, or damaged packaged weights.
        FileNotFoundError: the model cannot be had.
    """
    if endpoint is not None:
        if name_or_path is not None or model is None:
            raise ValueError(
                "endpoint needs `model` (the server's name for it) and no `name_or_path`, got "
                f"model={model!r}, name_or_path={name_or_path!r}"
            )
        return ServedLanguageModel(model, None, endpoint, api_key)
    if model is not None or api_key is not None:
        raise ValueError("model and api_key belong to a served model: give `endpoint`, or leave them out")
    if name_or_path is None:
        assets.path(conversion.GGUF, conversion.GGUF_SHA256)
        return LocalLanguageModel("SmolLM2-135M-Instruct (Q4_1)", conversion.GGUF_SHA256, None)
    folder = weights.locate(name_or_path)
    name = folder.name if Path(name_or_path).expanduser().is_dir() else os.fspath(name_or_path)
    return LocalLanguageModel(name, weights.checksum(folder), folder)
