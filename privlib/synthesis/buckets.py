"""Public partitions of embedding space: cells around public anchors, and a randomly projected grid.

A bucket rule is fixed by public parameters before any private text is seen. It says which bucket a
record falls into, where the public origin of that bucket is, and how far apart two records of one
one bucket can be once clipped (`diameter`) - or, for the grid, how unlikely a large distance is.

The bucket of a record is a function of that record alone, bit by bit. A product of floating-point matrices is not:
BLAS rounds a row by where it stands and what stands beside it. So both factors are put on public grids on which every
partial sum of every product is an integer below 2^53 (Cauchy-Schwarz on the norms), hence exact in any order.
"""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field
from functools import cached_property

import numpy as np

from privlib.dp import Simulation, checks

GRID_BITS = 24  # what is summed lies on a public grid of clip_norm / 2^24
_ANCHOR_BITS = 26  # records and anchors on one grid: 2 x 2^26 x 2^24 + 2^48 < 2^53
_PROJECTION_BITS = 28  # columns of the projection: 2^24 x 2^28 < 2^53
BLOCK = 4096  # rows at a time: memory stays at block x cells
_SQUARABLE = 1e140  # numbers between its inverse and it have squares that neither overflow nor vanish


def private_embeddings(embeddings, dimension: int) -> np.ndarray:
    """Checked private embeddings, float16, 32 or 64 [n, dimension], finite; raises with type and shape only."""
    array = unread_embeddings(embeddings, dimension)
    for start in range(0, len(array), BLOCK):
        finite_block(array, start)
    return array


def unread_embeddings(embeddings, dimension: int) -> np.ndarray:
    """The same without reading a number, for a file that is then read by `finite_block`."""
    array = np.asarray(embeddings)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:  # a finite long double may be infinite in 64 bits
        got = checks.type_of_entries(array)
        hint = "; embed them first" if got == "texts" else ""
        raise TypeError(f"embeddings must be floating-point numbers of at most 64 bits, got {got}{hint}")
    if array.ndim != 2 or array.shape[1] != dimension:
        raise ValueError(f"embeddings must have shape (any, {dimension}), got shape {array.shape}")
    return array


def finite_block(embeddings: np.ndarray, start: int) -> np.ndarray:
    """Rows from `start` on, at most `BLOCK` of them, all finite.

    Non-finite rows are outside the domain of every mechanism here. Long rows are inside it: they are
    clipped, never refused, because an error that depends on one record would tell of it.
    """
    block = embeddings[start : start + BLOCK]
    with np.errstate(over="ignore", invalid="ignore"):
        surely = np.isfinite(np.vdot(block, block))  # squares only add up: one quick pass settles nearly every block
    if not surely and not np.isfinite(block).all():
        raise ValueError(f"embeddings must hold finite numbers only (array of shape {embeddings.shape})")
    return block


def clipped(vectors: np.ndarray, norm: float) -> np.ndarray:
    """Rows scaled down to at most `norm` in l2, float64; shorter rows are unchanged."""
    # C order: each row's squares are added in one order, whatever the other rows
    vectors = np.asarray(vectors, dtype=np.float64, order="C")
    reach = np.maximum(np.abs(vectors).max(axis=1, keepdims=True, initial=0.0), norm)
    unit = vectors / reach  # entries of at most 1: nothing overflows, however long a row
    lengths = np.sqrt(np.einsum("ij,ij->i", unit, unit))[:, None]
    promised = norm * (1 - 1e-12)  # a hair below, so that rounding in the length never leaves a row longer
    long = lengths > promised / reach
    return np.where(long, unit * (promised / np.where(long, lengths, 1.0)), vectors)


def on_grid(vectors: np.ndarray, norm: float, bits: int = GRID_BITS, origins: np.ndarray | None = None) -> np.ndarray:
    """Rows, less their `origins` if given, clipped to `norm` and cut towards zero to multiples of norm / 2^bits: those
    multiples, integers in float64. Row i depends on row i alone; its l2 norm is at most 2^bits.
    """
    rows = np.array(vectors, dtype=np.float64, order="C")
    if origins is not None:
        rows -= origins
    if not 1 / _SQUARABLE < norm < _SQUARABLE:
        return np.trunc(clipped(rows, norm) / (norm / 2**bits))
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
    odd = ~(squares < _SQUARABLE**2)  # longer than can be squared: the slow way
    if odd.any():
        rows[odd], squares[odd] = clipped(rows[odd], norm), 0.0
    promised = norm * (1 - 1e-12)  # as in `clipped`
    rows *= (2**bits / norm / np.maximum(np.sqrt(squares) / promised, 1.0))[:, None]
    return np.trunc(rows, out=rows)


@dataclass(frozen=True, eq=False)
class AnchoredBuckets:
    """Cells of public anchors: a record belongs to its nearest anchor; its residual is clipped to `radius`.

    Anchors are k-means centres of public auxiliary embeddings (float[n, d]), by scikit-learn's
    MiniBatchKMeans seeded with `public_seed`; `AnchoredBuckets.at(anchors, radius)` takes them as they are.
    Two clipped residuals of a cell differ by at most `diameter` = 2 radius, whatever the data: the bound
    is deterministic, needs no share of delta, and holds for adversarial records. Nearest up to a rounding of
    `reach` / 2^26 a coordinate, after rows are clipped to `reach` = 4 (longest anchor + radius).
    `cells` >= 1, `radius` > 0 (rho). Raises ValueError when there are fewer auxiliary rows than cells.
    """

    auxiliary: InitVar[np.ndarray]
    cells: int
    radius: float
    public_seed: int = 0
    anchors: np.ndarray = field(init=False, repr=False)

    assumptions = ()

    def __post_init__(self, auxiliary) -> None:
        checks.whole("cells", self.cells, at_least=1)
        checks.positive("radius", self.radius)
        checks.whole("public_seed", self.public_seed, at_least=0)
        points = _public_points("auxiliary", auxiliary)
        if len(points) < self.cells:
            raise ValueError(f"auxiliary must hold at least cells = {self.cells} rows, got {len(points)}")
        object.__setattr__(self, "anchors", _frozen(_centres(points, self.cells, self.public_seed)))

    @classmethod
    def at(cls, anchors: np.ndarray, radius: float) -> AnchoredBuckets:
        """Buckets around given public anchors, float[cells, d]."""
        buckets = cls.__new__(cls)
        points = _public_points("anchors", anchors)
        for name, value in (
            ("cells", len(points)),
            ("radius", checks.positive("radius", radius)),
            ("public_seed", 0),
            ("anchors", _frozen(points)),
        ):
            object.__setattr__(buckets, name, value)
        return buckets

    @property
    def dimension(self) -> int:
        return self.anchors.shape[1]

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @property
    def clip_norm(self) -> float:
        """Largest norm of what a record adds to a sum."""
        return self.radius

    @cached_property
    def reach(self) -> float:
        """Rows are clipped to this norm before their nearest anchor is sought."""
        return 4 * (float(np.linalg.norm(self.anchors, axis=1).max()) + self.radius)

    @cached_property
    def _on_records_grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Twice the anchors, float64[d, cells], and their squares: kept, as users ask for one row at a time."""
        anchors = np.rint(self.anchors / (self.reach / 2**_ANCHOR_BITS))
        return 2 * anchors.T, np.einsum("ij,ij->i", anchors, anchors)

    def assign(self, embeddings: np.ndarray) -> np.ndarray:
        """Cell of each row: int64[n, 1]; a function of that row alone."""
        twice, squares = self._on_records_grid
        cells = [
            np.argmax(on_grid(block, self.reach, _ANCHOR_BITS) @ twice - squares, axis=1)
            for block in _blocks(np.asarray(embeddings))
        ]
        return np.concatenate(cells, dtype=np.int64)[:, None] if cells else np.zeros((0, 1), dtype=np.int64)

    def origins(self, tags: np.ndarray) -> np.ndarray:
        """Public origin of each bucket: its anchor, float64[n, d]."""
        return self.anchors[tags[:, 0]]


@dataclass(frozen=True, eq=False)
class JLBuckets:
    """The paper's buckets: a random projection to `dims` coordinates, cut by a randomly shifted grid.

    y = x Z / sqrt(k), Z in R^{d x k} of i.i.d. N(0, 1); tag_j = floor((y_j - o_j) / L), o_j ~ U[0, L),
    L = 2 r / sqrt(k). Z and the offsets come from `public_seed` and are public.
    `dimension` d of the embeddings, `dims` k >= 1, `radius` r > 0, `max_norm` R > 0: rows are clipped to R
    before the sum, so two records of a bucket are at most `diameter` = 2 R apart with certainty; that
    they are mostly much nearer is what `CentroidRelease(sensitivity="integrated")` bills.
    Z is rounded to 2^-28 of its longest column. Raises ValueError when tags could pass 2^52 (a tiny radius / max_norm).
    Source: Fre-E2T, Section 4.1, Step 1.
    """

    dims: int
    radius: float
    public_seed: int
    dimension: int = 384
    max_norm: float = 1.0
    projection: np.ndarray = field(init=False, repr=False)
    offsets: np.ndarray = field(init=False, repr=False)

    assumptions = ("data fixed before the public projection",)

    def __post_init__(self) -> None:
        checks.whole("dims", self.dims, at_least=1)
        checks.positive("radius", self.radius)
        checks.whole("dimension", self.dimension, at_least=1)
        checks.positive("max_norm", self.max_norm)
        checks.whole("public_seed", self.public_seed, at_least=0)
        public = Simulation(self.public_seed)  # public randomness: a seed is all it needs
        projection = public.child("projection").generator.standard_normal((self.dimension, self.dims))
        offsets = public.child("offsets").generator.random(self.dims) * self.edge
        projection /= math.sqrt(self.dims)
        _, exponent = math.frexp(float(np.linalg.norm(projection, axis=0).max()))
        projection = np.rint(np.ldexp(projection, _PROJECTION_BITS - exponent))
        projection = np.ldexp(projection, exponent - _PROJECTION_BITS)
        farthest = float(self.max_norm) * float(np.linalg.norm(projection, 2))
        if not farthest <= (2.0**52 - 1) * self.edge:
            raise ValueError(
                f"radius must be larger: at max_norm {self.max_norm!r} tags of {self.dims} dims pass 2^52, "
                f"got radius {self.radius!r}"
            )
        object.__setattr__(self, "projection", _frozen(projection))
        object.__setattr__(self, "offsets", _frozen(offsets))

    @property
    def edge(self) -> float:
        return 2 * self.radius / math.sqrt(self.dims)

    @property
    def diameter(self) -> float:
        return 2 * self.max_norm

    @property
    def clip_norm(self) -> float:
        return self.max_norm

    def assign(self, embeddings: np.ndarray) -> np.ndarray:
        """Grid cell of each row: int64[n, dims], a function of that row alone, clipped and cut as it is summed."""
        step = self.max_norm / 2**GRID_BITS
        tags = [
            np.floor((on_grid(block, self.max_norm) @ self.projection * step - self.offsets) / self.edge)
            for block in _blocks(np.asarray(embeddings))
        ]
        return np.concatenate(tags).astype(np.int64) if tags else np.zeros((0, self.dims), dtype=np.int64)

    def origins(self, tags: np.ndarray) -> np.ndarray:
        """Zeros: a grid cell has no public centre in the embedding space."""
        return np.zeros((len(tags), self.dimension))


def _blocks(rows: np.ndarray):
    return (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))


def _public_points(name: str, points) -> np.ndarray:
    array = np.asarray(points)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be an array of real numbers, got {checks.type_of_entries(array)}")
    array = np.array(array, dtype=np.float64)
    if array.ndim != 2 or not len(array) or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a finite array of shape (at least 1, d), got shape {array.shape}")
    return array


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _centres(points: np.ndarray, cells: int, seed: int) -> np.ndarray:
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(cells, random_state=seed, n_init=3, batch_size=2048, compute_labels=False)
    return model.fit(points).cluster_centers_.astype(np.float64)
