from __future__ import annotations

import socket

import huggingface_hub
import pytest

from privlib import models
from privlib.models import weights


@pytest.fixture
def no_network(monkeypatch):
    def refuse(self, address):
        raise AssertionError(f"asked the network for {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_local_models_never_ask_the_network(tiny_encoder, tiny_lm, no_network, cache):
    from privlib.models import encoders, local

    encoders._load.cache_clear()
    local._load.cache_clear()
    assert models.encoder(tiny_encoder).embed(["tea"]).shape == (1, 16)
    assert len(models.language_model(tiny_lm).generate(["tea"], 2)) == 1


@pytest.mark.parametrize("missing", ["./nowhere", "/nowhere/at/all", "~/nowhere-privlib", "three/part/name"])
def test_a_missing_folder_is_not_taken_for_a_hub_name(missing, no_network):
    for make in (models.encoder, models.language_model):
        with pytest.raises(FileNotFoundError, match="does not exist"):
            make(missing)


def test_a_hub_name_is_asked_of_the_hub(tiny_encoder, monkeypatch):
    asked = []
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: asked.append(name) or str(tiny_encoder))
    assert models.encoder("gtr-t5-base").name == "gtr-t5-base"
    assert models.encoder("owner/other").dimension == 16
    models.language_model("owner/lm")
    assert asked == ["sentence-transformers/gtr-t5-base", "owner/other", "owner/lm"]


def test_a_hub_that_does_not_answer_gives_a_clear_error(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(FileNotFoundError, match=r"gtr-t5-base.*hub did not give.*HF_HUB_OFFLINE"):
        models.encoder("gtr-t5-base")


def test_checksum_of_one_file_is_its_own_and_of_several_covers_each(tmp_path):
    (tmp_path / "model-1.safetensors").write_bytes(b"one")
    single = weights.checksum(tmp_path)
    assert single == "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"  # sha256 of "one"
    (tmp_path / "model-2.safetensors").write_bytes(b"two")
    both = weights.checksum(tmp_path)
    (tmp_path / "model-2.safetensors").write_bytes(b"too")
    assert len({single, both, weights.checksum(tmp_path)}) == 3


def test_fingerprint_moves_with_the_vocabulary_and_not_with_the_readme(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"one")
    before = weights.fingerprint(tmp_path)
    (tmp_path / "README.md").write_text("words")
    assert weights.fingerprint(tmp_path) == before
    (tmp_path / "vocab.txt").write_text("words")
    assert weights.fingerprint(tmp_path) != before


def test_a_folder_without_weights_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no weight file"):
        models.language_model(tmp_path)
