"""One profile for all property tests: the same examples on every run, and no clock: a busy machine is no failure.

And what holds for the public arguments of all packages.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True, database=None)
settings.load_profile("house")

WRONG = {
    "a": "a",
    "None": None,
    "nan": math.nan,
    "inf": math.inf,
    "-1": -1,
    "[]": [],
    "['a']": ["a"],
    "cube": np.zeros((2, 2, 2)),
}


@pytest.fixture
def refused_by_name():
    """check(argument, call, good, legal): with each `WRONG` value in place of one `good` argument the call fails, by a
    message that holds the argument's name. `legal`: argument -> keys of `WRONG` that it takes, or that fail for a part
    of the argument that has a name of its own. Private arguments are bound beforehand."""

    def check(argument, call, good, legal=None):
        call(**good)
        for key in WRONG.keys() - (legal or {}).get(argument, set()):
            with pytest.raises((TypeError, ValueError)) as caught:
                call(**good | {argument: WRONG[key]})
            assert re.search(rf"\b{re.escape(argument)}\b", str(caught.value)), (key, str(caught.value))

    return check
