"""One profile for all property tests: the same examples on every run, and no clock: a busy machine is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True, database=None)
settings.load_profile("house")
