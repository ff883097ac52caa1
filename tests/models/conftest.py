"""Tiny models with random weights, built and saved on the spot: nothing here asks the network."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

SENTENCES = (
    "the a patient doctor said that new study shows risk of heart disease falls rises with more less sleep",
    "tea coffee long wait phone bill refund late delivery good bad very not is was and or in on at for",
)
WORDS = [word for sentence in SENTENCES for word in sentence.split()]


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PRIVLIB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _tokenizer(start: str, end: str, template: str | None = None):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: i for i, token in enumerate(["[PAD]", start, end, "[UNK]", *WORDS])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    if template is None:
        pair = [(start, vocabulary[start]), (end, vocabulary[end])]
        inner.post_processor = processors.TemplateProcessing(f"{start} $A {end}", special_tokens=pair)
    names = {"bos_token": start, "eos_token": end} if template else {"cls_token": start, "sep_token": end}
    out = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", **names)
    if template:
        out.chat_template = template
    return out, len(vocabulary)


def _build_encoder(folder: Path, normalise: bool) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel

    tokenizer, size = _tokenizer("[CLS]", "[SEP]")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        config = BertConfig(
            vocab_size=size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
            max_position_embeddings=64,
        )  # fmt: skip
        BertModel(config).save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    body = Transformer(str(folder / "bert"), max_seq_length=32)
    parts = [body, Pooling(16)] + ([Normalize()] if normalise else [])
    SentenceTransformer(modules=parts, device="cpu").save(str(folder / "encoder"), create_model_card=False)
    return folder / "encoder"


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory) -> Path:
    return _build_encoder(tmp_path_factory.mktemp("unit"), normalise=True)


@pytest.fixture(scope="session")
def loose_encoder(tmp_path_factory) -> Path:
    return _build_encoder(tmp_path_factory.mktemp("loose"), normalise=False)


@pytest.fixture(scope="session")
def tiny_lm(tmp_path_factory) -> Path:
    """A Llama of 20,000 random weights, spread wide so that its next-token laws are far from flat."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    template = "{% for turn in messages %}{{ turn['content'] }} {% endfor %}said"
    tokenizer, size = _tokenizer("<s>", "</s>", template)
    folder = tmp_path_factory.mktemp("lm") / "tiny-llama"
    with torch.random.fork_rng():
        torch.manual_seed(2)
        config = LlamaConfig(
            vocab_size=size, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
            intermediate_size=64, max_position_embeddings=128, initializer_range=0.2, bos_token_id=1,
            eos_token_id=2, pad_token_id=0,
        )  # fmt: skip
        model = LlamaForCausalLM(config)
    # Sampling defaults as real folders ship them: privlib must not let them change its laws, and the
    # server heeds a request's temperature only when they are there.
    model.generation_config.do_sample, model.generation_config.top_k = True, 50
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def endpoint(tiny_lm, tmp_path_factory):
    """Base URL of a real `transformers serve` of the tiny model on this machine's own address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    command = Path(sys.executable).with_name("transformers")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HF_HOME": str(log.parent)}
    with open(log, "wb") as stream:
        server = subprocess.Popen(
            [command, "serve", tiny_lm, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
            stdout=stream, stderr=stream, env=environment, start_new_session=True,
        )  # fmt: skip
    try:
        _wait_until_healthy(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(10)


def _wait_until_healthy(url: str, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"transformers serve ended with {server.returncode}: {log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"transformers serve did not answer: {log.read_text()[-2000:]}")
