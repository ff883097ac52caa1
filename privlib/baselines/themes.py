"""The common form of what a baseline says: themes with weights, and one sentence frame for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privlib.dp import checks


@dataclass(frozen=True)
class Theme:
    """One thing a summary names: its words, and the (noisy) number of texts or mass behind it."""

    text: str
    weight: float


def in_words(themes: Sequence[Theme]) -> str:
    """ "Main themes: a (about 12); b (about 7)." in the order given: post-processing of the themes.

    The frame is the same for every method, so that measures of text compare what is said, not who phrased it.
    No theme gives the sentence "No theme stands out.".
    """
    for theme in checks.sequence("themes", themes, "Themes"):
        checks.instance("themes", theme, Theme)
    if not len(themes):
        return "No theme stands out."
    return "Main themes: " + "; ".join(f"{theme.text} (about {max(0.0, theme.weight):.0f})" for theme in themes) + "."
