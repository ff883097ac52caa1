"""What is done to a text before it enters a corpus, the same for every record and looking at no other."""

from __future__ import annotations

import html
import re

# Links, also glued to the word before; links Twitter cut short ("http:/…", "htt…", "http ..."); www and pictures.
_LINK = re.compile(
    r"https?:\S*|\bhttps?(?=\s*(?:…|\.\.\.))|\bhtt?p?s?…|\bwww\.\S+|\bpic\.twitter\.com/\S+", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")


def one_line(text: str) -> str:
    """The text with every run of white space made one space."""
    return _SPACE.sub(" ", text).strip()


def without_links(text: str) -> str:
    """A tweet's text without links; character references such as &amp; become what they stand for."""
    return one_line(_LINK.sub(" ", html.unescape(text)))


def without_quoting(text: str) -> str:
    """A review without the pair of quotes wrapped around it and with character references resolved."""
    text = text.strip()
    if len(text) >= 2 and text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    return one_line(html.unescape(text))
