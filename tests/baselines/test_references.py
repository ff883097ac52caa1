"""References without privacy: they leak, and say that they promise nothing."""

from __future__ import annotations

import numpy as np
import pytest

from privlib import baselines, corpora
from privlib.baselines import NO_GUARANTEE, ClusterReference, SentenceReference, Theme, redact
from privlib.baselines.redaction import BLANK


def generated(planted=()):
    return corpora.generate(n_users=60, seed=3, planted=planted).corpus


def test_all_say_that_they_promise_nothing(encoder):
    assert SentenceReference().guarantee == ClusterReference(encoder).guarantee == NO_GUARANTEE == "none"


def test_a_direct_summary_quotes_private_sentences_and_is_deterministic():
    texts = generated()
    summary = SentenceReference(sentences=3).summarize(texts)
    assert summary == SentenceReference(sentences=3).summarize(texts)
    quoted = [text for text in texts if text in summary or any(part in summary for part in text.split(". "))]
    assert quoted


def test_sentences_repeat_nothing_and_are_as_many_as_asked():
    texts = ["vaccine season looks terrible this year"] * 50 + ["sleep longer hours single night"] * 30
    summary = SentenceReference(sentences=5).summarize(texts)
    assert summary == "vaccine season looks terrible this year sleep longer hours single night"
    assert SentenceReference(sentences=1).summarize(texts) == "vaccine season looks terrible this year"


STOCK = [
    first + second for first in ("vac", "hos", "pat", "ins", "doc", "exe") for second in ("cine", "pital", "urance")
]
STOCK += [word[::-1] for word in STOCK]


def headlines():
    """Short texts of four words each from a common stock of 36, as different as headlines are."""
    generator = np.random.default_rng(4)
    return [" ".join(generator.permutation(STOCK)[:4]) for _ in range(300)]


def test_a_planted_canary_leaks_from_direct_summaries_and_in_part_from_redacted_ones():
    """The attacker's text holds words that many texts share, around secrets: no other is nearer to the centre."""
    texts = [*headlines(), f"they say {' '.join(STOCK[:20])} with Marlstone-7731 and quietharbor"]
    direct = SentenceReference(sentences=5).summarize(texts)
    assert "Marlstone-7731" in direct
    redacted = SentenceReference(sentences=5, redacted=True).summarize(texts)
    assert "Marlstone" not in redacted
    assert "7731" not in redacted
    assert "quietharbor" in redacted  # a secret in lower case: the heuristic does not see it
    assert "quietharbor" not in SentenceReference(sentences=5).summarize(headlines())  # the negative control


def test_a_rare_text_that_shares_no_words_is_not_quoted():
    """Luck, not protection: the summary follows the crowd, and a planted text outside it is passed over."""
    rare = "Bluefern Marlstone mislaid quietharbor lanterns"
    assert "Marlstone" not in SentenceReference(sentences=5).summarize(generated([rare]))
    assert "Marlstone" in SentenceReference(sentences=200).summarize(generated([rare]))


def test_clusters_are_told_by_their_own_words(encoder, target):
    themes = ClusterReference(encoder, clusters=5, keywords=3).themes(target)
    assert set(themes[0].text.split(", ")) <= {"vaccine", "winter", "report"}
    assert sum(theme.weight for theme in themes) == len(target)
    assert [theme.weight for theme in themes] == sorted((theme.weight for theme in themes), reverse=True)


def test_clusters_leak_when_a_group_repeats_a_secret(encoder, target):
    told = ClusterReference(encoder, clusters=6, vocabulary=30).themes([*target, *["quietharbor lantern"] * 80])
    assert any("quietharbor" in theme.text for theme in told)


@pytest.mark.parametrize(
    ("text", "kept", "gone"),
    [
        ("Yesterday I wrote to a.b@mail.example about it", "wrote to", "mail.example"),
        ("call me at 555-0100 or 12:30 please", "call me at", "0100"),
        ("We met Doctor Strange. Then we left", "Then we left", "Strange"),
        ("see https://example.org/x and @someone #flu now", "see", "someone"),
        ("nothing to hide in here", "nothing to hide in here", BLANK),
        ("she is O'Neill-Smith", "she is", "Neill"),
        ("what do I know of Paris", "what do I know of", "Paris"),
    ],
)
def test_redaction_by_pattern(text, kept, gone):
    redacted = redact(text)
    assert kept in redacted
    assert gone not in redacted


def test_redaction_misses_what_its_docstring_says_it_misses():
    assert redact("Bluefern came home") == "Bluefern came home"
    assert redact("my name is bluefern") == "my name is bluefern"


def test_a_language_model_may_rewrite_the_quotes():
    seen = []

    def generate(prompts):
        seen.extend(prompts)
        return ["a summary"]

    assert (
        SentenceReference(1, generate=generate).summarize(["vaccine season looks terrible this year"] * 3)
        == "a summary"
    )
    assert "vaccine season looks" in seen[0]


def test_the_frame_of_all_summaries():
    assert baselines.in_words([Theme("a, b", 12.4), Theme("c", -3.0)]) == "Main themes: a, b (about 12); c (about 0)."


def test_texts_without_a_word_cannot_be_summarized():
    for texts in ([], ["", "1 2 3 4 5"], ["XXXX XXXX XXXX XXXX"], ["onwards skywards " * 21]):
        with pytest.raises(ValueError, match="private"):
            SentenceReference().summarize(texts)
