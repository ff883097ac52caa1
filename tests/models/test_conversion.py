from __future__ import annotations

import pytest

from privlib import assets, models
from privlib.models import conversion


@pytest.fixture
def unpack(monkeypatch):
    """Stands in for the slow unpacking, and counts how often it runs."""
    calls = []

    def write(gguf, folder):
        calls.append(gguf.name)
        (folder / "model.safetensors").write_bytes(b"weights")
        (folder / "config.json").write_text("{}")

    monkeypatch.setattr(conversion, "convert", write)
    return calls


def test_conversion_happens_once(cache, unpack):
    folder = conversion.packaged_folder()
    assert folder == conversion.packaged_folder()
    assert unpack == ["SmolLM2-135M-Instruct.Q4_1.gguf"]
    assert folder.parent.parent == cache


@pytest.mark.parametrize("damage", ["weights", "missing file", "manifest"])
def test_a_damaged_folder_is_made_anew(cache, unpack, damage):
    folder = conversion.packaged_folder()
    if damage == "weights":
        (folder / "model.safetensors").write_bytes(b"weighty")
    elif damage == "missing file":
        (folder / "config.json").unlink()
    else:
        (folder / "sha256.json").write_text("[]")
    assert (conversion.packaged_folder() / "model.safetensors").read_bytes() == b"weights"
    assert len(unpack) == 2


def test_an_interrupted_conversion_leaves_nothing_behind(cache, monkeypatch):
    def interrupted(_, folder):
        (folder / "model.safetensors").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(conversion, "convert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        conversion.packaged_folder()
    assert [p.suffix for p in (cache / "models").iterdir()] == [".lock"]


def test_the_packaged_model_answers_and_prefers_english_to_word_salad():
    lm = models.language_model()
    assert lm.checksum == conversion.GGUF_SHA256 == assets.sha256(assets.path(conversion.GGUF))
    (answer,) = lm.generate(["What is the capital of France? Answer in one word."], 8)
    assert "Paris" in answer
    plain, salad = lm.score(["The cat sat on the mat.", "mat the on sat cat The."])
    assert plain + 2 < salad
