"""Heuristic redaction: patterns that look like names and numbers are blanked. No guarantee of any kind."""

from __future__ import annotations

import re

from privlib.dp import checks

BLANK = "[…]"  # holds no word, so that blanks do not look like what texts share
_SECRET = re.compile(
    r"\S+@\S+\.\w+"  # e-mail addresses
    r"|https?://\S+|www\.\S+|[@#]\w+"  # links, handles, tags
    r"|\w*\d[\w.,:/-]*"  # anything with a digit
    r"|(?<![.!?]\s)(?<!^)\b(?!I\b)[A-Z][\w'’-]*"  # capitalised words that do not begin a sentence
)


def redact(text: str) -> str:
    """`text` with e-mail addresses, links, handles, numbers and capitalised words inside a sentence blanked.

    A heuristic: it misses names in lower case and at the beginning of a sentence, and blanks harmless words.
    """
    checks.instance("text", text, str)
    return _SECRET.sub(BLANK, text)
