"""Rewriting by the packaged language model, through the interface that any model takes; a few texts only."""

from __future__ import annotations

import numpy as np
import pytest

from privlib import models, quantization
from privlib.dp import Simulation
from privlib.quantization.prompting import CLOSE, EXAMPLES, OPEN

SCHEMA = quantization.Schema((("rating", ("negative", "positive")),))
PUBLIC_TEXTS = (
    "This drug made me sick and I hate it. I would not take it again.",
    "This drug helped me at once and I love it. I would take it again.",
)


class Public:
    texts, attributes = PUBLIC_TEXTS, {"rating": ("negative", "positive")}


@pytest.fixture(scope="module")
def made():
    extractor = quantization.WordCounts.learn(PUBLIC_TEXTS, np.array([[0], [1]]), SCHEMA.sizes)
    rewriter = quantization.LanguageModelRewriter(
        models.language_model().complete, SCHEMA, extractor, quantization.splice(Public, SCHEMA, fresh_share=1.0),
        attempts=2, max_new_tokens=32, opened=True,
    )  # fmt: skip
    texts = ("My skin cleared up in two weeks.", "I had a headache all day long.", "Nothing changed for me at all.")
    labels, targets = np.array([[1], [0], [0]]), np.array([[1], [1], [0]])
    return rewriter, rewriter.rewrite(texts, labels, targets, Simulation(3)), texts


def test_every_text_is_a_message_of_the_model_or_a_counted_fallback(made):
    rewriter, released, texts = made
    report = rewriter.report
    assert report.rows == len(released) == 3
    assert 3 <= report.answers <= 6
    assert report.answers - report.malformed == 3 - report.given_up
    for text in released:
        assert text.strip()
        assert OPEN not in text
        assert CLOSE not in text
        assert "Labels:" not in text
        assert text not in {said for _, _, said in EXAMPLES}
    fallbacks = [text for text in released if any(text in public or public in text for public in PUBLIC_TEXTS)]
    assert len(fallbacks) == report.given_up
    assert report.given_up < 3  # the packaged model keeps to the form for some
    assert not set(released) & set(texts)
