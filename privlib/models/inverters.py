"""The published inverter of embeddings, vec2text, with its own classes, under the transformers of this library.

vec2text (Morris, Kuleshov, Shmatikov and Rush 2023, "Text Embeddings Reveal (Almost) As Much As Text") learns to write
the text of an embedding of one encoder, gtr-t5-base without its last two modules: a hypothesizer writes a first
text, and a corrector rewrites it, step by step, from the difference of the two embeddings. Its pretrained weights are
on the hub; `privlib.synthesis.SearchInverter` needs none.

What has to be done differently here than in `vec2text.load_pretrained_corrector`, and why:
- models are built from their configuration and then given their weights, as the package builds one pretrained model
  inside another, which transformers 5 refuses;
- its trainers fetch metrics of training from the network when they are made: they get none, and cannot train;
- beams are scored with length penalty 1, the default of the transformers it was written for, now unset.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np

from privlib.dp import checks
from privlib.models import weights
from privlib.models.encoders import strings

_EMBEDDER = "gtr_base"  # vec2text's name for the encoder whose pretrained weights exist and need no paid service
_WIDTH = 768  # the corrector's input width is written into the package
# T5 checkpoints of old transformers hold this weight, which no T5 ever used.
_UNUSED = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
_BATCH = 16


@dataclass(frozen=True, eq=False)
class Vec2TextInverter:
    """vec2text, loaded. Centroids must be means of vectors that `embed` made: other encoders are not inverted.

    Attributes:
        name: of the corrector, for records and figures.
        checksum: SHA-256 over the weights of the corrector.
        dimension: 768.
        norm: infinity; this encoder does not normalise, so a mechanism must clip.
        steps: corrections after the first text; 0 for none.
        beam_width: texts kept from step to step, the nearest winning; 0 for the package's greedy default.
    """

    name: str
    checksum: str
    steps: int
    beam_width: int
    corrector: object = field(repr=False)
    dimension: int = _WIDTH
    norm: float = float("inf")

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32[n, 768] of n texts, by the encoder that is inverted; longer texts are cut as in training.

        Raises TypeError for other than strings, ValueError for a vector that is not finite.
        """
        import torch

        listed, by = strings(texts), self.corrector
        out = np.empty((len(listed), self.dimension), np.float32)
        for first in range(0, len(listed), _BATCH):
            some = listed[first : first + _BATCH]
            tokens = by.embedder_tokenizer(
                some, return_tensors="pt", max_length=by.model.config.max_seq_length, truncation=True,
                padding="max_length",
            )  # fmt: skip
            with torch.inference_mode():
                found = by.get_frozen_embeddings(tokens.input_ids, tokens.attention_mask)
            out[first : first + len(some)] = found.numpy()
        if not np.isfinite(out).all():
            raise ValueError(f"the encoder of {self.name!r} gave a vector that is not finite")
        return out

    def invert(self, centroids: np.ndarray) -> list[str]:
        """One text a row of released `centroids`, finite float[n, 768].

        Post-processing: only the centroids and public weights enter. What fails in the package raises here; nothing
        stands in for a text that could not be made. Raises ValueError for centroids of another shape or not finite.
        """
        import torch
        import vec2text

        centroids = np.asarray(centroids, dtype=np.float32)
        if centroids.ndim != 2 or centroids.shape[1] != self.dimension or not np.isfinite(centroids).all():
            raise ValueError(f"centroids must be finite float[n, {self.dimension}], got shape {centroids.shape}")
        out: list[str] = []
        for first in range(0, len(centroids), _BATCH):
            rows = torch.from_numpy(centroids[first : first + _BATCH].copy())
            with torch.no_grad(), weights.quiet():
                out += vec2text.invert_embeddings(rows, self.corrector, self.steps or None, self.beam_width)
        if len(out) != len(centroids):
            raise RuntimeError(f"vec2text gave {len(out)} texts for {len(centroids)} centroids")
        return [text.strip() for text in out]


def vec2text_inverter(
    corrector: str | os.PathLike = "jxm/gtr__nq__32__correct",
    hypothesizer: str | os.PathLike = "jxm/gtr__nq__32",
    embedder: str | os.PathLike = "sentence-transformers/gtr-t5-base",
    backbone: str | os.PathLike | None = None,
    steps: int = 20,
    beam_width: int = 0,
) -> Vec2TextInverter:
    """vec2text with pretrained weights, each by folder (never asks the network) or by hub name.

    Args:
        corrector, hypothesizer: what vec2text trained, each with config.json and weights.
        embedder: the encoder they were trained for.
        backbone: T5 whose shape and vocabulary they have; None takes the name in their configurations.
        steps: corrections, >= 0.
        beam_width: >= 0, and 0 where steps is 0.
    Raises:
        FileNotFoundError: a model cannot be had.
        ValueError: a configuration for another encoder, weights that do not fit it, or numbers out of range.
    """
    steps = checks.whole("steps", steps, at_least=0)
    beam_width = checks.whole("beam_width", beam_width, at_least=0)
    if beam_width and not steps:
        raise ValueError(f"beam_width must be 0 where steps is 0, got {beam_width}")
    folders = [weights.locate(part) for part in (corrector, hypothesizer, embedder)]
    with weights.quiet(), contextlib.redirect_stdout(io.StringIO()):  # the package prints what it does
        vec2text = _package()
        with _offline(folders[2]):
            writer = _loaded(vec2text.models.InversionModel, folders[1], backbone)
            made = _corrector(writer, _loaded(vec2text.models.CorrectorEncoderModel, folders[0], backbone))
    width = writer.embedder_dim
    if width != _WIDTH:
        raise ValueError(f"embedder must have width {_WIDTH}, which vec2text's corrector is made for, got {width}")
    name = folders[0].name if Path(corrector).expanduser().is_dir() else os.fspath(corrector)
    return Vec2TextInverter(name, weights.checksum(folders[0]), steps, beam_width, made)


@functools.cache
def _package():
    """vec2text, imported without what importing it changes elsewhere: the environment and torch's log."""
    with mock.patch.dict(os.environ):
        import vec2text
    import torch

    torch._logging.set_logs()
    return vec2text


@contextlib.contextmanager
def _offline(embedder: Path) -> Iterator[None]:
    """The encoder from its folder, not from a name written into the package; no metrics from the network."""
    import evaluate
    import vec2text.models.inversion
    from transformers import AutoModel, AutoTokenizer

    def load(name: str, torch_dtype: str):
        model = AutoModel.from_pretrained(embedder, local_files_only=True)
        return model.encoder, AutoTokenizer.from_pretrained(embedder, local_files_only=True)

    with (
        mock.patch.object(vec2text.models.inversion, "load_embedder_and_tokenizer", load),
        mock.patch.object(evaluate, "load", return_value=None),
    ):
        yield


def _loaded(kind, folder: Path, backbone: str | os.PathLike | None):
    from vec2text.models.config import InversionConfig

    settings = json.loads((folder / "config.json").read_text("utf-8"))
    if settings.get("embedder_model_name") != _EMBEDDER or settings.get("embedder_model_api"):
        raise ValueError(
            f"{folder.name} must be made for the encoder {_EMBEDDER!r}, got {settings.get('embedder_model_name')!r}, "
            f"served by {settings.get('embedder_model_api')!r}"
        )
    settings["model_name_or_path"] = str(weights.locate(backbone or settings["model_name_or_path"]))
    model = kind(InversionConfig(**settings))
    found = model.load_state_dict(_state(folder), strict=False)
    names = dict(model.named_parameters(remove_duplicate=False))
    lost = {names[name].data_ptr() for name in found.missing_keys if name in names}
    given = {value.data_ptr() for name, value in names.items() if name not in found.missing_keys}
    strange = [name for name in found.unexpected_keys if not name.endswith(_UNUSED)]
    if lost - given or strange:  # tied weights are saved once
        raise ValueError(
            f"weights of {folder.name} do not fit its configuration: {len(lost - given)} are missing "
            f"({found.missing_keys[:3]}), {len(strange)} have no place ({strange[:3]})"
        )
    return model.eval()


def _state(folder: Path) -> dict:
    import torch
    from safetensors.torch import load_file

    files = sorted(folder.glob("*.safetensors"))
    if files:
        return {name: value for file in files for name, value in load_file(file).items()}
    files = sorted(folder.glob("pytorch_model*.bin"))
    if not files:
        raise FileNotFoundError(f"no *.safetensors or pytorch_model*.bin in model folder {folder}")
    shards = (torch.load(file, map_location="cpu", weights_only=True) for file in files)
    return {name: value for shard in shards for name, value in shard.items()}


def _corrector(writer, model):
    """What `vec2text.load_corrector` makes, but on the CPU and without leaving a folder behind."""
    import transformers
    import vec2text

    model.encoder_decoder.generation_config.length_penalty = 1.0
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(output_dir=folder, use_cpu=True, report_to="none")
        inner = vec2text.trainers.InversionTrainer(
            model=writer,
            args=arguments,
            data_collator=transformers.DataCollatorForSeq2Seq(writer.tokenizer, label_pad_token_id=-100),
        )
        return vec2text.trainers.Corrector(
            model=model,
            inversion_trainer=inner,
            args=arguments,
            data_collator=vec2text.collator.DataCollatorForCorrection(tokenizer=writer.tokenizer),
        )
