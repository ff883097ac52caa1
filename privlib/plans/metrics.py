"""How much of the non-private plan a release keeps: utility on the true sketch, so never itself released."""

from __future__ import annotations

import numpy as np

from privlib.dp import checks


def top(masses: np.ndarray, plan_size: int) -> np.ndarray:
    """S*: indices of the `plan_size` (L, 1 <= L <= m) largest of float[m], ties to the lower index; int64[L]."""
    masses = _vector(masses)
    if not 1 <= checks.whole("plan_size", plan_size) <= len(masses):
        raise ValueError(f"plan_size must lie in 1..{len(masses)}, got {plan_size!r}")
    return np.argsort(-masses, kind="stable")[:plan_size]


def overlap(masses: np.ndarray, admitted: np.ndarray) -> float:
    """Overlap@L = |S~ n S*| / L for L admitted indices. DP-SPIN, Appendix B.2."""
    masses, admitted = _vector(masses), _indices("admitted", masses, admitted)
    return len(np.intersect1d(admitted, top(masses, len(admitted)))) / len(admitted)


def mass_retained(masses: np.ndarray, admitted: np.ndarray) -> float:
    """MassRetained = M(S~; C) / M(S*; C), in [0, 1]; ValueError when M(S*; C) = 0 (undefined). Appendix B.2."""
    masses, admitted = _vector(masses), _indices("admitted", masses, admitted)
    best = _mass(masses, top(masses, len(admitted)))
    if best <= 0:
        raise ValueError("mass_retained is undefined: the reference mass M(S*; C) is not above 0")
    return _mass(masses, admitted) / best


def loss(masses: np.ndarray, admitted: np.ndarray) -> float:
    """Loss_L = M(S*; C) - M(S~; C), in mass, at least 0. Appendix B.2."""
    masses, admitted = _vector(masses), _indices("admitted", masses, admitted)
    return max(0.0, _mass(masses, top(masses, len(admitted))) - _mass(masses, admitted))


def value_errors(masses: np.ndarray, indices: np.ndarray, values: np.ndarray) -> dict[str, float]:
    """linf, l1 and l2 error of raw noisy `values` at `indices`: all m for full sketches, the admitted for top-L."""
    values, masses = checks.private_floats("values", values, (None,)), _vector(masses)
    exact = masses[_indices("indices", masses, indices)]
    if values.shape != exact.shape:
        raise ValueError(f"values must be one an index, got shape {values.shape} for {len(exact)} indices")
    errors = values - exact
    return {
        "linf": float(np.abs(errors).max()),
        "l1": float(np.abs(errors).sum()),
        "l2": float(np.sqrt((errors**2).sum())),
    }


def _mass(masses: np.ndarray, indices: np.ndarray) -> float:
    return float(masses[np.sort(indices)].sum())


def _vector(masses: np.ndarray) -> np.ndarray:
    masses = checks.private_floats("masses", masses, (None,))
    if not len(masses):
        raise ValueError("masses must be float[m], m >= 1, got none")
    return masses


def _indices(name: str, masses: np.ndarray, indices: np.ndarray) -> np.ndarray:
    indices = np.asarray(indices)
    inside = indices.ndim == 1 and len(indices) and indices.dtype.kind in "iu"
    if not inside or len(np.unique(indices)) != len(indices) or not 0 <= indices.min() <= indices.max() < len(masses):
        raise ValueError(f"{name} must be distinct integers in 0..{len(masses) - 1}, got shape {indices.shape}")
    return indices
