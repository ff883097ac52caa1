"""The three notebooks of centroids with an encoder of natural norms: tiny, saved on the spot, taken as gtr is."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from privlib import corpora, models, synthesis
from privlib.dp import gaussian_noise_std
from privlib.experiments.profiles import plan
from privlib.experiments.records import read
from privlib.experiments.studies import synthesis as studies
from privlib.experiments.studies import synthesis_ssp as ssp
from privlib.experiments.workspace import DataSource, Workspace

RADIUS, NORM = 0.5, 1.85  # r of the paper; R is about the median norm of the vectors made here
OTHER = {"pooled": True, "encoder_radius": RADIUS, "max_norm": NORM}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory) -> Path:
    """Random weights that know the words of the packaged news; normalises as it is shipped, norms vary when pooled."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from tokenizers import Tokenizer, pre_tokenizers, trainers
    from tokenizers.models import WordLevel
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    inner = Tokenizer(WordLevel(unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    trainer = trainers.WordLevelTrainer(vocab_size=2000, special_tokens=list(special.values()), show_progress=False)
    inner.train_from_iterator(corpora.load("health-news").texts[:5000], trainer)
    folder = tmp_path_factory.mktemp("shipped")
    PreTrainedTokenizerFast(tokenizer_object=inner, **special).save_pretrained(folder / "bert")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        body = BertModel(BertConfig(
            vocab_size=2000, hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
            max_position_embeddings=64,
        ))  # fmt: skip
    torch.nn.init.constant_(body.encoder.layer[-1].output.LayerNorm.weight, 0.6)
    body.save_pretrained(folder / "bert")
    parts = [Transformer(str(folder / "bert"), max_seq_length=32), Pooling(24), Normalize()]
    SentenceTransformer(modules=parts, device="cpu").save(str(folder / "encoder"), create_model_card=False)
    return folder / "encoder"


@pytest.fixture
def records(tmp_path, monkeypatch):
    """Runs a notebook's own cells at its smoke profile, `changes` made, and returns the records that it writes."""
    import matplotlib

    monkeypatch.setenv("PRIVLIB_OUT", str(tmp_path))
    monkeypatch.setenv("PRIVLIB_CACHE", str(tmp_path / "cache"))
    matplotlib.use("Agg")

    def run(name: str, **changes):
        from matplotlib import pyplot

        workspace = Workspace.default()
        (job,) = plan(workspace, "smoke", DataSource.parse("packaged", workspace), [name])
        assert changes.keys() <= job.parameters.keys()
        names: dict[str, object] = job.parameters | changes
        for cell in json.loads(job.source.path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code" and "parameters" not in cell["metadata"].get("tags", ()):
                exec(compile("".join(cell["source"]), name, "exec"), names)
        pyplot.close("all")
        return {path.stem: read(path) for path in sorted((tmp_path / "records").glob("*.json"))}

    return run


def test_the_vectors_made_here_have_norms_of_their_own(shipped):
    texts = corpora.load("health-news").texts[:400]
    norms = np.linalg.norm(models.encoder(shipped, cache=False, pooled=True).embed(texts), axis=1)
    assert 1 < norms.min() < NORM < norms.max()


def test_radius_and_norm_are_the_encoders_own_unless_given(shipped):
    encoder, cut = studies.chosen_encoder("", False, 0.0, 0.0)
    assert (encoder, cut) == (models.encoder(), {})
    assert studies.chosen_encoder("", False, 0.0, 2.6)[1] == {}  # no vector is longer than 1
    encoder, cut = studies.chosen_encoder("", False, 0.4, 0.8)
    assert (encoder.radius, encoder.radius_quantile, cut) == (0.4, None, {"max_norm": 0.8})
    encoder, cut = studies.chosen_encoder(str(shipped), True, RADIUS, NORM)
    assert (encoder.name, encoder.radius, cut) == ("encoder, pooled", RADIUS, {"max_norm": NORM})
    assert studies.chosen_encoder(str(shipped), False, RADIUS, 0.0)[1] == {}
    with pytest.raises(ValueError, match="radius must be above 0: the encoder 'encoder, pooled' ships with none"):
        studies.chosen_encoder(str(shipped), True, 0.0, NORM)
    with pytest.raises(ValueError, match="max_norm must be above 0: the encoder 'encoder, pooled' does not normalise"):
        studies.chosen_encoder(str(shipped), True, RADIUS, 0.0)
    with pytest.raises(ValueError, match="radius must be"):
        studies.chosen_encoder("", False, -1.0, 0.0)


def test_the_nearest_public_text_is_the_nearest_whatever_its_norm(shipped):
    texts = corpora.load("health-news").texts[:80]
    found = models.encoder(shipped, cache=False, pooled=True).embed(texts).astype(float)
    rows, public = found[:20], found[20:]
    squared = ((rows[:, None] - public[None]) ** 2).sum(axis=2)
    lengths = (rows**2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ssp.nearness(rows, public), (lengths - squared) / 2, atol=1e-9)
    longest = (rows @ public.T).argmax(axis=1)
    assert (longest != squared.argmin(axis=1)).any()  # what inner products alone would take


def check_said(made, shipped):
    """Every record of texts names the encoder, but no folder of this machine, and states r and R."""
    told = [record for record in made.values() if record.models]
    assert told
    for record in told:
        assert [model["name"] for model in record.models] == ["encoder, pooled"]
        assert (record.parameters["radius"], record.parameters["max_norm"]) == (RADIUS, NORM)
        assert str(shipped) not in record.to_json()


def test_centroids(records, shipped):
    made = records("synthesis_centroids", encoder=str(shipped), **OTHER)
    check_said(made, shipped)
    rows = made["synthesis-regime"].rows.set_index(["buckets", "dims"])
    public = (4.0, 1e-5, float(rows["rate"].iloc[0]), int(rows["threshold"].iloc[0]))
    multiplier = synthesis.joint_noise_multiplier(*public)
    assert rows.loc[("grid", 6), "noise_std"] == pytest.approx(multiplier * 2 * NORM)
    assert rows.loc[("anchored", 0), "noise_std"] == pytest.approx(multiplier * 2 * RADIUS)
    assert rows.loc[("grid", 20), "noise_std"] < multiplier * 2 * NORM  # integrated: R is no part of it
    assert rows.loc[("anchored", 0), "released"] > 0
    assert "grid, as published" not in rows.index.get_level_values("buckets")  # t = 50 is too small for A.1's split


def test_utility(records, shipped):
    made = records("synthesis_utility", encoder=str(shipped), **OTHER, draws=2, epsilons=[8.0])
    check_said(made, shipped)
    rows = made["synthesis-methods"].rows.query("epsilon == 8.0").set_index("method").drop_duplicates("noise_std")
    joint = rows.loc["joint"]
    multiplier = synthesis.joint_noise_multiplier(8.0, 1e-5, float(joint["rate"]), int(joint["threshold"]))
    assert joint["noise_std"] == pytest.approx(multiplier * 2 * NORM)
    paper = gaussian_noise_std(8 - 4 * math.log(2), 1e-5 - synthesis.lemma1(4.0, 0.5, 25)[1], 1.0)
    assert rows.loc["paper", "noise_std"] == pytest.approx(paper * 2 * NORM)
    chosen = made["synthesis-null-space"].rows
    assert (chosen["chosen_share"] == 1).all()
    assert (chosen["worst_case_delta"] <= 1e-6).all()


def test_support_protection(records, shipped):
    made = records("synthesis_ssp", encoder=str(shipped), **OTHER)
    check_said(made, shipped)
    near = made["synthesis-ssp-neighbours"].rows.query("method == 'centroids, denoised'")["distance"]
    assert near.iloc[-1] < near.iloc[0]
    assert made["synthesis-ssp-heavy"].parameters["dims"] == 0  # no grid was asked for, and the record says so
