"""Checks of what a caller passes: names, numbers, places. (`privlib.dp.checks` is not below this part.)"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np


def number(name: str, value: Any) -> float:
    """`value` when it is a number; TypeError otherwise."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return value


def whole(name: str, value: Any, at_least: int) -> int:
    """`value` when it is an integer of at least `at_least`; TypeError or ValueError otherwise."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < at_least:
        raise ValueError(f"{name} must be an integer of at least {at_least}, got {value!r}")
    return value


def text(name: str, value: Any) -> str:
    """`value` when it is a str; TypeError otherwise."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {value!r}")
    return value


def several(name: str, value: Any) -> Any:
    """`value` unless it is one text or a mapping, which would be taken apart; TypeError that shows the type only."""
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise TypeError(f"{name} must be a sequence of str, got {type(value).__name__}")
    return value


def mapping(name: str, value: Any) -> Mapping:
    """`value` when it is a mapping; TypeError otherwise."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping, got {value!r}")
    return value


def place(name: str, value: Any) -> str | os.PathLike:
    """`value` when it may name a file or a folder; TypeError otherwise."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {value!r}")
    return value
