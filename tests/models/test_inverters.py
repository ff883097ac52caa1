"""vec2text's own classes on tiny weights, saved and loaded as the pretrained ones are; no network.

The tiny hypothesizer and corrector are trained on four sentences, so that the right text comes out for the right
reason: with weights that were not loaded, or steps that were not made, it does not.
"""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from privlib import models

WIDTH = 768
TEXTS = ("patient said heart risk rises", "tea and coffee late", "new study on sleep", "phone bill refund bad")
FIRST = "good good good"  # what the hypothesizer is taught to write, whatever the embedding


def _tokenizer(folder: Path) -> int:
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    words = sorted({word for text in (*TEXTS, FIRST) for word in text.split()})
    vocabulary = {token: i for i, token in enumerate(["<pad>", "</s>", "<unk>", *words])}
    inner = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    return len(vocabulary)


def _t5(folder: Path, kind: str, width: int) -> None:
    import transformers

    size = _tokenizer(folder)
    config = transformers.T5Config(
        vocab_size=size, d_model=width, d_kv=8, d_ff=32, num_layers=1, num_heads=2, pad_token_id=0, eos_token_id=1,
        decoder_start_token_id=0, dropout_rate=0.0,
    )  # fmt: skip
    getattr(transformers, kind)(config).save_pretrained(folder)


def _taught(model, batch: dict, steps: int):
    import torch

    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=5e-3)
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(**batch)["loss"]
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
    return model.eval()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Folders as the package looks for them beside a working folder, with what it trains."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("vec2text")
        patch.chdir(folder)
        _build(folder)
    return folder


def _build(folder: Path) -> None:
    import torch
    import vec2text
    from safetensors.torch import save_model
    from vec2text.models.config import InversionConfig

    with torch.random.fork_rng():
        torch.manual_seed(3)
        _t5(folder / "sentence-transformers/gtr-t5-base", "T5EncoderModel", WIDTH)
        _t5(folder / "t5-base", "T5ForConditionalGeneration", 32)
        settings = {
            "model_name_or_path": "t5-base", "embedder_model_name": "gtr_base", "embedder_model_api": None,
            "embedder_fake_with_zeros": False, "use_frozen_embeddings_as_input": True, "use_lora": False,
            "encoder_dropout_disabled": False, "decoder_dropout_disabled": False, "embeddings_from_layer_n": None,
            "max_seq_length": 12, "num_repeat_tokens": 2, "embedder_no_grad": True, "embedder_torch_dtype": "float32",
            "embedder_gaussian_noise_level": 0.0, "corrector_ignore_hypothesis_embedding": False,
        }  # fmt: skip
        writer = vec2text.models.InversionModel(InversionConfig(**settings))
        padded = dict(return_tensors="pt", max_length=12, truncation=True, padding="max_length")
        tokens = writer.embedder_tokenizer(list(TEXTS), **padded)
        first = writer.embedder_tokenizer([FIRST] * len(TEXTS), **padded)
        with torch.no_grad():
            vectors = writer.call_embedding_model(tokens.input_ids, tokens.attention_mask)
            before = writer.call_embedding_model(first.input_ids, first.attention_mask)
        begun = torch.cat([torch.zeros((len(TEXTS), 1), dtype=torch.long), first.input_ids[:, :-1]], 1)
        unknown = dict(embedder_input_ids=None, embedder_attention_mask=None)
        batch = dict(unknown, frozen_embeddings=vectors, labels=_labels(first))
        _taught(writer, batch, 60)
        corrector = vec2text.models.CorrectorEncoderModel(InversionConfig(**settings))
        batch = dict(
            embedding=vectors, hypothesis_embedding=before, hypothesis_input_ids=begun,
            hypothesis_attention_mask=(begun != 0).int(), labels=_labels(tokens),
        )  # fmt: skip
        _taught(corrector, batch, 150)
    for name in ("hypothesizer", "corrector"):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(settings))
    save_model(writer, str(folder / "hypothesizer/model.safetensors"))
    torch.save(corrector.state_dict(), folder / "corrector/pytorch_model.bin")


def _labels(tokens):
    return tokens.input_ids.masked_fill(tokens.attention_mask == 0, -100)


def load(home: Path, **changes):
    parts = {name: home / name for name in ("corrector", "hypothesizer")}
    parts |= {"embedder": home / "sentence-transformers/gtr-t5-base", "backbone": home / "t5-base", "steps": 1}
    return models.vec2text_inverter(**parts | changes)


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """No network, and an empty working folder."""

    def refuse(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_the_text_of_an_embedding_comes_back_after_a_correction_and_not_before(home, alone):
    inverter = load(home)
    vectors = inverter.embed(TEXTS)
    assert vectors.shape == (4, WIDTH)
    assert inverter.invert(vectors) == list(TEXTS)
    assert load(home, steps=0).invert(vectors) == [FIRST] * 4
    assert not list(alone.iterdir())
    assert (inverter.name, inverter.norm, inverter.dimension) == ("corrector", np.inf, WIDTH)


def test_embeddings_are_those_of_the_folder(home, alone):
    """Slow twin: the encoder alone, mean over a text's tokens, one text at a time without padding."""
    import torch
    from transformers import AutoTokenizer, T5EncoderModel

    folder = home / "sentence-transformers/gtr-t5-base"
    tokenizer, encoder = AutoTokenizer.from_pretrained(folder), T5EncoderModel.from_pretrained(folder).eval()
    with torch.no_grad():
        twin = [encoder(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0).numpy() for text in TEXTS]
    np.testing.assert_allclose(load(home).embed(TEXTS), np.array(twin), atol=1e-5)


@pytest.mark.parametrize(("steps", "beam_width"), [(4, 0), (3, 2)])
def test_several_steps_and_beams_run(home, alone, steps, beam_width):
    inverter = load(home, steps=steps, beam_width=beam_width)
    found = inverter.invert(inverter.embed(TEXTS * 5))  # more than one batch
    assert len(found) == 20
    assert found[:4] == found[16:]
    assert inverter.invert(np.empty((0, WIDTH))) == []


def test_failures_raise(home, alone, monkeypatch):
    inverter = load(home)
    vectors = inverter.embed(TEXTS)
    for bad in (vectors[0], vectors[:, 1:], vectors * np.nan):
        with pytest.raises(ValueError, match="centroids must"):
            inverter.invert(bad)

    def broken(*_, **__):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(inverter.corrector, "generate", broken)
    with pytest.raises(RuntimeError, match="out of memory"):
        inverter.invert(vectors)
    monkeypatch.setattr(inverter.corrector, "get_frozen_embeddings", lambda *_: SimpleNamespace(numpy=lambda: np.nan))
    with pytest.raises(ValueError, match="not finite"):
        inverter.embed(TEXTS)


def test_weights_that_do_not_fit_are_refused(home, alone, tmp_path):
    import torch

    spoilt = shutil.copytree(home / "corrector", tmp_path / "spoilt")
    state = torch.load(spoilt / "pytorch_model.bin", weights_only=True)
    state["stranger"] = state.pop("layernorm.weight")
    torch.save(state, spoilt / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"1 are missing .*layernorm.weight.*stranger"):
        load(home, corrector=spoilt)
    (spoilt / "pytorch_model.bin").unlink()
    with pytest.raises(FileNotFoundError, match="spoilt"):
        load(home, corrector=spoilt)


@pytest.mark.parametrize("change", [{"embedder_model_name": "gtr_large"}, {"embedder_model_api": "ada"}])
def test_models_of_other_encoders_are_refused(home, alone, tmp_path, change):
    other = shutil.copytree(home / "hypothesizer", tmp_path / "other")
    settings = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(settings | change))
    with pytest.raises(ValueError, match="other must be made for the encoder 'gtr_base'"):
        load(home, hypothesizer=other)


def test_arguments_out_of_range_are_refused(home):
    with pytest.raises(ValueError, match="steps"):
        load(home, steps=-1)
    with pytest.raises(ValueError, match="beam_width must be 0"):
        load(home, steps=0, beam_width=2)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load(home, corrector=home / "nowhere")
