"""Wrong public arguments of evaluation, refused by name: the table; tests/conftest.py makes its tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from privlib import evaluation, plans
from privlib.dp import Simulation
from privlib.evaluation import diversity, downstream, embedding, fidelity, judging, support
from privlib.evaluation import text as matches

LABELS = np.array([[0, 1], [1, 0]])
NAMES = ("dry skin", "long wait", "cold food", "rude staff")
UNIVERSE = plans.AtomUniverse(NAMES, manifest={"auxiliary_records": 40}, representation=plans.Tfidf.fit(NAMES))
POINTS = np.random.default_rng(0).standard_normal((30, 3))
ENCODER = SimpleNamespace(embed=lambda texts: np.array([[len(text), 1.0, 0.0] for text in texts]) / 50)
VOTES = dict(outputs=POINTS[:4], output_labels=[0, 1, 0, 1], texts=POINTS[4:6])

PUBLIC_ARGUMENTS = {
    "token_jaccard": (evaluation.token_jaccard, dict(text="a b", reference="a"), dict(text={"a"}, reference={"a"})),
    "bigram_jaccard": (evaluation.bigram_jaccard, dict(text="a b", reference="a b"), dict(text={"a"}, reference={"a"})),
    "keyphrase_jaccard": (
        evaluation.keyphrase_jaccard,
        dict(text="dry", reference="dry"),
        dict(text={"a"}, reference={"a"}),
    ),
    "keyphrases": (evaluation.keyphrases, dict(text="dry"), dict(text={"a"})),
    "embedding_cosine": (
        evaluation.embedding_cosine,
        dict(text="dry", reference="wet", embed=ENCODER.embed),
        dict(text={"a"}, reference={"a"}),
    ),
    "tfidf_cosine": (
        evaluation.tfidf_cosine,
        dict(text="dry skin", reference="dry", representation=UNIVERSE.representation),
        dict(text={"a"}, reference={"a"}),  # no word of the vocabulary
    ),
    "judge": (
        evaluation.judge,
        dict(released="x", summary="y", generate=lambda prompts: ["4"] * len(prompts), criteria=("coverage",)),
        dict(released={"a"}, summary={"a"}, criteria={"[]", "['a']"}),  # an entry is named as `criterion`
    ),
    "expected": (
        evaluation.expected,
        dict(released="x", summary="y", continuations=lambda *_: [[("4", 0.0)]], criteria=("coverage",)),
        dict(released={"a"}, summary={"a"}, criteria={"[]", "['a']"}),
    ),
    "prompt": (
        judging.prompt,
        dict(criterion="coverage", released="x", summary="y"),
        dict(released={"a"}, summary={"a"}),
    ),
    "read_score": (evaluation.read_score, dict(answer="4")),
    "scores": (
        evaluation.scores,
        dict(judgements=[evaluation.Judgement("coverage", "4", 4)] * 2, criterion="coverage"),
    ),
    "bleu": (diversity.bleu, dict(text=["a"], references=[["a"]]), dict(text={"['a']"})),
    "self_bleu": (diversity.self_bleu, dict(texts=["a b", "a b"], clusters=[0, 0])),
    "fluency": (diversity.fluency, dict(nlls=[1.0, 2.0], limit=6.0, alpha=0.1)),
    "vote": (downstream.vote, dict(neighbours=1, **VOTES)),
    "vote_accuracies": (
        downstream.vote_accuracies,
        dict(text_labels=[0, 1], neighbours=(1,), **VOTES),
        dict(neighbours={"[]"}),
    ),
    "classifier_accuracy": (
        downstream.classifier_accuracy,
        dict(features=POINTS[:4], labels=[0, 1, 0, 1], held_out=POINTS[4:6], held_out_labels=[0, 1]),
    ),
    "scored": (downstream.scored, dict(told=[0, 1], true=[0, 1])),
    "Accuracy.interval": (downstream.Accuracy(1, 2, 0.5).interval, dict(alpha=0.1)),
    "neighbour_counts": (embedding.neighbour_counts, dict(embeddings=POINTS, radius=1.0)),
    "frequent": (embedding.frequent, dict(embeddings=POINTS, radius=1.0, frequency=2)),
    "nearest_distances": (embedding.nearest_distances, dict(texts=POINTS, outputs=POINTS)),
    "utility": (embedding.utility, dict(outputs=POINTS, texts=POINTS, radius=1.0, alpha=1.5)),
    "same_corpus_reference": (
        embedding.same_corpus_reference,
        dict(texts=POINTS, outputs=3, radius=1.0, noise=Simulation(1)),
    ),
    "unrelated_reference": (
        embedding.unrelated_reference,
        dict(unrelated=POINTS, texts=POINTS, outputs=3, radius=1.0, noise=Simulation(1)),
    ),
    "heavy_buckets": (
        embedding.heavy_buckets,
        dict(named=np.array([[0]]), tags=np.array([[0], [0], [1]]), frequency=2),
    ),
    "fidelity": (
        fidelity.fidelity,
        dict(
            real=POINTS,
            released=POINTS,
            real_lengths=np.arange(30),
            released_lengths=np.arange(30),
            real_labels=np.zeros((30, 1), int),
            read_labels=np.zeros((30, 1), int),
            sizes=(2,),
            k=3,
        ),
    ),
    "knn_precision_recall": (fidelity.knn_precision_recall, dict(real=POINTS, released=POINTS, k=3)),
    "frechet_distance": (fidelity.frechet_distance, dict(real=POINTS, released=POINTS)),
    "length_match": (fidelity.length_match, dict(real=[1, 2], released=[1, 2])),
    "support_protection": (
        support.support_protection,
        dict(infrequent=POINTS[:3], runs=[POINTS, POINTS], reaches=[0.5], picking=1, alpha=0.1),
        dict(runs={"a", "['a']", "cube"}),  # the outputs of a run are refused as `outputs`
    ),
    "upper_bound": (support.upper_bound, dict(failures=1, runs=3, alpha=0.1)),
    "mean_upper": (support.mean_upper, dict(mean=0.1, runs=3, alpha=0.1)),
    "runs_needed": (support.runs_needed, dict(delta=0.01, alpha=0.1)),
    "near_chance": (support.near_chance, dict(texts=POINTS, means=POINTS[:2], noise_stds=np.ones(2), reach=0.5)),
    "distance_by_neighbours": (
        support.distance_by_neighbours,
        dict(counts=[1, 2], distances=[0.1, 0.2], edges=[0, 2, 3]),
    ),
    "joint_match": (matches.joint_match, dict(real=LABELS, released=LABELS, sizes=(2, 2))),
    "attribute_match": (matches.attribute_match, dict(real=LABELS, released=LABELS, sizes=(2, 2))),
}

NEED_NONE = "CRITERIA Judgement NotAScore Scores"
"""A constant, an error, and records that the library makes."""
