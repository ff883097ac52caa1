"""The release over a file that need not fit into memory: the same numbers, exact sums, bounded memory."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis import AnchoredBuckets, CentroidRelease, JLBuckets, buckets, centroids
from privlib.synthesis.buckets import clipped, on_grid

D, N = 64, 40_000


def rows(n: int) -> np.ndarray:
    """Unit rows around thirty directions, float32."""
    draw = Simulation(0).generator
    spots = draw.standard_normal((30, D))
    made = spots[draw.integers(0, 30, n)] / np.sqrt(D) + 0.01 * draw.standard_normal((n, D))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def mechanism(kind: str) -> CentroidRelease:
    rule = JLBuckets(4, 0.4, 1, dimension=D) if kind == "grid" else AnchoredBuckets.at(rows(20), radius=0.4)
    return CentroidRelease(rule, 8.0, 1e-6, 0.6, 60)


def silent(release: CentroidRelease) -> CentroidRelease:
    class Silent(CentroidRelease):
        def noise_std(self, noise):
            return 0.0

    return Silent(**{field.name: getattr(release, field.name) for field in dataclasses.fields(release)})


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    path = tmp_path_factory.mktemp("embeddings") / "rows.npy"
    np.save(path, rows(N))
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("kind", ["grid", "anchored"])
def test_the_release_is_that_of_a_plain_loop_over_all_rows(kind, mapped):
    release = silent(mechanism(kind))
    out = release.release(mapped, Simulation(3))
    kept = np.asarray(mapped)[Simulation(3).child("sample").bernoulli(0.6, N)]
    tags, norm = release.buckets.assign(kept), release.buckets.clip_norm
    groups: dict[tuple, list[int]] = {}
    for row, tag in enumerate(tags.tolist()):
        groups.setdefault(tuple(tag), []).append(row)
    heavy = sorted(tag for tag, members in groups.items() if len(members) >= 60)
    assert [tuple(cell) for cell in out.cells.tolist()] == heavy
    assert len(heavy) > 10
    assert len(groups) > len(heavy) or kind == "anchored"
    for tag, count, origin, centroid in zip(heavy, out.counts, out.origins, out.centroids, strict=True):
        members = kept[groups[tag]].astype(float) - origin
        assert count == len(members)
        np.testing.assert_allclose(centroid, origin + clipped(members, norm).mean(axis=0), atol=2 * norm / 2**24)


def test_blocks_files_and_memory_layout_change_no_bit(mapped, monkeypatch):
    release = mechanism("grid")
    first = release.release(mapped, Simulation(3))
    for block in (97, 50_000):
        for module in (buckets, centroids):
            monkeypatch.setattr(module, "BLOCK", block)
        for data in (mapped, np.asfortranarray(mapped)):
            again = release.release(data, Simulation(3))
            np.testing.assert_array_equal(again.centroids, first.centroids)
            np.testing.assert_array_equal(again.cells, first.cells)


def test_keys_that_collide_change_nothing(mapped, monkeypatch):
    release = mechanism("grid")
    first = release.release(mapped, Simulation(3))
    monkeypatch.setattr(centroids, "_ODD", np.uint64(0))  # every tag has the same key
    again = release.release(mapped, Simulation(3))
    np.testing.assert_array_equal(again.centroids, first.centroids)
    np.testing.assert_array_equal(again.counts, first.counts)


@pytest.mark.parametrize("kind", ["grid", "anchored"])
def test_memory_beside_the_file_is_a_fraction_of_it(kind, mapped, monkeypatch):
    """A block is a fortieth of the file's 10 MB; a copy of the kept rows, or a mask of its shape, would fail."""
    for module in (buckets, centroids):
        monkeypatch.setattr(module, "BLOCK", N // 40)
    release = mechanism(kind)
    release.release(mapped[:2000], Simulation(1))
    tracemalloc.start()
    release.release(mapped, Simulation(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * N * D * 4
    assert peak < N * D * 2.4  # 0.6 of the rows, were they kept as they are, 2.4 bytes a number


def test_a_row_that_is_not_finite_is_found_wherever_it_stands(mapped):
    for row in (0, N // 2, N - 1):
        data = np.array(mapped)
        data[row, 3] = np.nan
        with pytest.raises(ValueError, match="finite") as caught:
            mechanism("grid").release(data, Simulation(1))
        assert str(N) in str(caught.value)


@pytest.mark.parametrize("bits", [24, 26])
def test_integers_never_pass_the_norm_exactly_counted(bits):
    """By whole numbers, for rows at, just below and far above the norm, quick way and slow way."""
    draw = Simulation(5).generator
    made = draw.standard_normal((300, 96))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    lengths = np.concatenate(
        [1 + np.linspace(-1e-11, 1e-11, 100), np.geomspace(1e-3, 1e3, 100), np.geomspace(1e130, 1e300, 100)]
    )
    for norm in (1.0, 0.37, 1e-150):
        steps = on_grid(made * (lengths * min(norm, 1.0))[:, None], norm, bits)
        assert all(sum(int(step) ** 2 for step in row) <= 4**bits for row in steps)
        assert np.linalg.norm(steps, axis=1)[150:].min() > 2**bits * (1 - 1e-5)


def test_the_quick_way_is_the_slow_way():
    data = 3 * rows(500).astype(float) * np.linspace(0, 1, 500)[:, None]
    slow = clipped(data, 1.0) * 2**24
    assert np.abs(on_grid(data, 1.0) - slow).max() <= 1.0
