"""One profile for all property tests: the same examples on every run, and no clock: a busy machine is no failure.

And what holds for the public arguments of all packages.
"""

from __future__ import annotations

import importlib
import math
import re
from functools import partial

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
    "0-d": np.array(1),
    "True": True,
}


def refused_by_name(argument, call, good, legal=None):
    """With each `WRONG` value in place of one `good` argument the call fails, by a message that holds the argument's
    name. `legal`: argument -> keys of `WRONG` that it takes, or that fail for a part of the argument that has a name
    of its own. Private arguments are bound beforehand."""
    call(**good)
    for key in WRONG.keys() - (legal or {}).get(argument, set()):
        with pytest.raises((TypeError, ValueError)) as caught:
            call(**good | {argument: WRONG[key]})
        assert re.search(rf"\b{re.escape(argument)}\b", str(caught.value)), (key, str(caught.value))


def every_public_name_has_a_case(package, cases, need_none):
    """`cases`: names as "name", or "name.method"; `need_none`: the others, parted by spaces."""
    assert set(package.__all__) - {case.split(".")[0] for case in cases} == set(need_none.split())


class Called(pytest.Item):
    """A test that is a call."""

    def __init__(self, *, call, **kwargs):
        super().__init__(**kwargs)
        self.call = call

    def runtest(self):
        self.call()

    def repr_failure(self, excinfo):
        excinfo.traceback = excinfo.traceback.cut(path=__file__)  # without the frames of pytest itself
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, self.name


def pytest_pycollect_makeitem(collector, name, obj):
    """The tests of a table PUBLIC_ARGUMENTS, name -> (call, good[, legal]) for `refused_by_name`, of a package's public
    names: one for every argument, and one for the names of `privlib.<folder of the module>` that have no case, which
    the module's NEED_NONE has to list."""
    if name != "PUBLIC_ARGUMENTS":
        return None
    package = importlib.import_module(f"privlib.{collector.path.parent.name}")
    calls = {
        f"test_a_public_argument_of_a_wrong_kind_is_named[{case}-{argument}]": partial(refused_by_name, argument, *row)
        for case, row in obj.items()
        for argument in row[1]
    }
    calls["test_every_public_name_has_a_case_or_needs_none"] = partial(
        every_public_name_has_a_case, package, obj, collector.obj.NEED_NONE
    )
    return [Called.from_parent(collector, name=test, call=call) for test, call in calls.items()]
