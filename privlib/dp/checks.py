"""Checks of arguments: public parameters by value, private data by type and shape only.

A message about a public parameter shows what came; a message about private data never does, because
an error text travels to logs and screens that no privacy bill covers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

SOURCE = (
    "kind", "assumptions", "child", "add_laplace", "add_gaussian", "add_discrete_laplace", "add_discrete_gaussian",
    "truncated_shifted_discrete_laplace", "argmax_gumbel", "top_gumbel", "argmax_exponential", "bernoulli", "integers",
    "categorical", "permutation", "laplace_scale", "gaussian_std", "gaussian_rho",
)  # fmt: skip
"""What `privlib.dp.NoiseSource` has; that module imports this one."""

UNITS = ("record", "user")
RELATIONS = ("add_drop", "replace", "replace_with_null")


def settle(record: object, **checks: Callable[[str, Any], Any]) -> None:
    """Put each named field of a frozen `record` through its check (name, value) and keep what the check returns."""
    for name, check in checks.items():
        object.__setattr__(record, name, check(name, getattr(record, name)))


def finite(name: str, value: float) -> float:
    """`value` as a float in (-infinity, infinity); ValueError otherwise."""
    number = _number(name, value)
    if math.isinf(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number


def positive(name: str, value: float) -> float:
    """`value` as a float in (0, infinity); ValueError otherwise."""
    number = _number(name, value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return number


def nonnegative(name: str, value: float, *, infinite: bool = False) -> float:
    """`value` as a float in [0, infinity), or [0, infinity] when `infinite`; ValueError otherwise."""
    number = _number(name, value)
    if not 0 <= number <= math.inf or (number == math.inf and not infinite):
        raise ValueError(f"{name} must be a {'' if infinite else 'finite '}number of at least 0, got {value!r}")
    return number


def probability(name: str, value: float) -> float:
    """`value` as a float in [0, 1]; ValueError otherwise."""
    number = _number(name, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be a probability in [0, 1], got {value!r}")
    return number


def open_probability(name: str, value: float) -> float:
    """`value` as a float in (0, 1), ends excluded; ValueError otherwise."""
    number = _number(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def whole(name: str, value: int, *, at_least: int = 1) -> int:
    """`value` as an int of at least `at_least`; TypeError for other types (bool, 3.0, array), ValueError if smaller."""
    if isinstance(value, (bool, np.bool_, np.ndarray)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < at_least:
        raise ValueError(f"{name} must be an integer of at least {at_least}, got {value!r}")
    return number


def truth(name: str, value: bool) -> bool:
    """`value` when it is True or False; TypeError otherwise."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return value


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """`value` when it is one of `allowed`; ValueError otherwise."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
    return value


def texts(name: str, value: Any) -> list[str]:
    """The entries of a one-dimensional sequence of str; TypeError that names types only for anything else.

    A single text, a mapping or a table is refused: iterating it would take characters, keys or column names.
    """
    if not _is_sequence(value):
        raise TypeError(f"{name} must be a sequence of str, got {type(value).__name__}")
    entries = list(value)
    odd = next((entry for entry in entries if not isinstance(entry, str)), "")
    if not isinstance(odd, str):
        raise TypeError(f"{name} must be a sequence of str, got an entry of type {type(odd).__name__}")
    return entries


def sequence(name: str, value: Any, of: str) -> list:
    """The entries of a one-dimensional sequence, `of` what it should hold; TypeError, by type only, otherwise."""
    if not _is_sequence(value):
        raise TypeError(f"{name} must be a sequence of {of}, got {type(value).__name__}")
    return list(value)


def iterable(name: str, value: Any, of: str) -> None:
    """TypeError, by type only, unless `value` can be gone through, a generator too."""
    if not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        raise TypeError(f"{name} must hold {of}, got {type(value).__name__}")


def function(name: str, value: Any) -> None:
    """TypeError unless `value` can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be a function, got {type(value).__name__}")


def instance(name: str, value: Any, kind: type) -> None:
    """TypeError, by types only, unless `value` is of type `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be of type {kind.__name__}, got {type(value).__name__}")


def offers(name: str, value: Any, *wanted: str) -> None:
    """TypeError unless `value` is an object, not a class, with all attributes `wanted`."""
    if isinstance(value, type) or not all(hasattr(value, attribute) for attribute in wanted):
        raise TypeError(f"{name} must have {', '.join('.' + each for each in wanted)}, got {type(value).__name__}")


def noise_source(name: str, value: Any) -> None:
    """TypeError unless `value` has all that a mechanism may ask of a source (`SOURCE`); a class is none yet."""
    of_a_class = isinstance(value, type)
    if of_a_class or not all(hasattr(value, each) for each in SOURCE):
        got = f"the class {value.__name__}" if of_a_class else type(value).__name__
        raise TypeError(f"{name} must be a source, dp.Simulation(seed) or dp.Secure(), got {got}")


def type_of_entries(array: np.ndarray) -> str:
    """What an array holds, for a message about private data: a dtype's own name tells how long the longest text is."""
    return "texts" if array.dtype.kind in "US" else f"dtype {array.dtype.type.__name__}"


def lengths(name: str, shape: int | tuple[int, ...]) -> tuple[int, ...]:
    """A public array shape, an int or a tuple of ints >= 1, as a tuple; TypeError or ValueError otherwise."""
    return tuple(whole(name, length, at_least=1) for length in (shape if isinstance(shape, tuple) else (shape,)))


def floats(name: str, value: Any) -> np.ndarray:
    """`value` as a float64 array of its own shape, NaN and infinities let through; TypeError for other entries.

    The message holds types only, so it may be used on private numbers, too.
    """
    array = _array(name, value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be an array of real numbers, got {type_of_entries(array)}")
    return array.astype(np.float64, copy=False)


def private_floats(name: str, private, shape: tuple[int | None, ...]) -> np.ndarray:
    """A float64 copy of private numbers of the stated public shape (None: any length), all finite.

    Raises TypeError (dtype) and ValueError (shape, NaN or infinity); the message holds no value and no
    position, so that it says nothing beyond "the data is malformed".
    """
    array = _array(name, private)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be an array of real numbers, got {type_of_entries(array)}")
    _check_shape(name, array, shape)
    floats = array.astype(np.float64)
    if not np.isfinite(floats).all():
        raise ValueError(f"{name} must hold finite numbers only (array of shape {array.shape})")
    return floats


def private_integers(name: str, private, shape: tuple[int | None, ...]) -> np.ndarray:
    """An int64 copy of private integers of the stated public shape (None: any length); raises as `private_floats`."""
    array = _array(name, private)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be an array of integers, got {type_of_entries(array)}")
    _check_shape(name, array, shape)
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must fit 64-bit signed integers (array of shape {array.shape})")
    return array.astype(np.int64)


def round_up(value: Fraction) -> float:
    """Smallest float that is not below an exact fraction; how scales and losses are rounded."""
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


def _is_sequence(value: Any) -> bool:
    """A text, a mapping or a table is none: iterating it would take characters, keys or column names."""
    single = isinstance(value, (str, bytes, bytearray, memoryview, Mapping)) or getattr(value, "ndim", 1) != 1
    return not single and hasattr(value, "__len__") and hasattr(value, "__getitem__")


def _array(name: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be an array, got rows of different lengths") from None


def _check_shape(name: str, array: np.ndarray, shape: tuple[int | None, ...]) -> None:
    fits = array.ndim == len(shape) and all(
        wanted is None or wanted == length for wanted, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = "(" + ", ".join("any" if length is None else str(length) for length in shape) + ")"
        raise ValueError(f"{name} must have shape {wanted}, got shape {array.shape}")


def _number(name: str, value: float) -> float:
    # an array without dimensions is no number either: it has no hash, and changes in place
    odd = isinstance(value, (bool, str, bytes, bytearray, np.ndarray))
    if odd or getattr(value, "dtype", np.dtype(float)).kind not in "iuf":
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got nan")
    return number
