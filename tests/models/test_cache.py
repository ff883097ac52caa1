from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from privlib.models.cache import EmbeddingCache, key


def rows(n: int, value: float = 0.0) -> np.ndarray:
    return np.arange(3 * n, dtype=np.float32).reshape(n, 3) + value


def keys(*names: str) -> list[bytes]:
    return [key(name) for name in names]


def test_vectors_come_back_in_the_order_asked_and_survive_reopening(tmp_path):
    EmbeddingCache(tmp_path, 3).add(keys("a", "b", "c"), rows(3))
    again = EmbeddingCache(tmp_path, 3)
    assert again.missing(keys("c", "a", "x", "b", "x", "y")) == [2, 5]
    np.testing.assert_array_equal(again.vectors(keys("c", "a", "c")), rows(3)[[2, 0, 2]])


def test_the_first_committed_vector_wins_for_everyone(tmp_path):
    first, second = EmbeddingCache(tmp_path, 3), EmbeddingCache(tmp_path, 3)
    assert second.missing(keys("a", "b")) == [0, 1]  # computes both; meanwhile the other commits one
    first.add(keys("a"), rows(1))
    second.add(keys("a", "b"), rows(2, 0.5))
    for cache in (second, EmbeddingCache(tmp_path, 3)):
        np.testing.assert_array_equal(cache.vectors(keys("a", "b")), [[0, 1, 2], [3.5, 4.5, 5.5]])


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "other dimension"])
def test_a_damaged_shard_is_dropped_and_its_texts_are_missing_again(tmp_path, damage):
    EmbeddingCache(tmp_path, 3).add(keys("a"), rows(1))
    EmbeddingCache(tmp_path, 3).add(keys("b"), rows(1, 9.0))
    opened = EmbeddingCache(tmp_path, 3)
    assert opened.missing(keys("a", "b")) == []
    hurt = opened._places[key("a")][0]
    file = tmp_path / f"{hurt}.npy"
    content = file.read_bytes()
    if damage == "flip":
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "empty":
        file.write_bytes(b"")
    else:
        file.unlink()
        opened._write(np.zeros(1, [("key", "V32"), ("vector", "<f4", (4,))]))
    fresh = EmbeddingCache(tmp_path, 3)
    assert fresh.missing(keys("a", "b")) == [0]
    fresh.add(keys("a"), rows(1))
    np.testing.assert_array_equal(EmbeddingCache(tmp_path, 3).missing(keys("a", "b")), [])


def test_many_small_commits_are_merged_and_nothing_is_lost(tmp_path):
    cache, bystander = EmbeddingCache(tmp_path, 3), EmbeddingCache(tmp_path, 3)
    names = [str(i) for i in range(200)]
    for i, name in enumerate(names):
        cache.add(keys(name), rows(1, i))
        if i == 40:
            assert bystander.missing(keys("3")) == []
    assert len(list(tmp_path.glob("*.npy"))) < 70
    for reader in (cache, bystander, EmbeddingCache(tmp_path, 3)):
        assert reader.missing(keys(*names)) == []
        np.testing.assert_array_equal(reader.vectors(keys(*names))[:, 0], np.arange(200))
    assert not list(tmp_path.glob("*.part"))


def test_two_processes_writing_at_once_agree_on_every_vector(tmp_path):
    code = """
import sys, numpy as np
from pathlib import Path
from privlib.models.cache import EmbeddingCache, key
cache, value = EmbeddingCache(Path(sys.argv[1]), 3), float(sys.argv[2])
for start in range(0, 300, 5):
    names = [key(str(i)) for i in range(start, start + 10)]
    cache.add(names, np.full((10, 3), value, np.float32))
print(cache.vectors([key(str(i)) for i in range(300)]).tobytes().hex())
"""
    command = [sys.executable, "-c", code, tmp_path]
    running = [subprocess.Popen([*command, value], stdout=subprocess.PIPE, text=True) for value in "12"]
    one, two = (process.communicate()[0] for process in running)
    assert [process.returncode for process in running] == [0, 0]
    assert one == two
    stored = [k for file in tmp_path.glob("*.npy") for k in np.load(file)["key"].tolist()]
    assert len(stored) == len(set(stored)) == 305


def test_the_folder_is_for_its_owner_only_and_texts_are_not_in_it(tmp_path):
    folder = tmp_path / "sub"
    EmbeddingCache(folder, 3).add(keys("a secret sentence"), rows(1))
    assert folder.stat().st_mode & 0o077 == 0
    assert all(b"secret" not in file.read_bytes() for file in folder.iterdir())


def test_a_lone_surrogate_is_refused_without_showing_the_text():
    with pytest.raises(ValueError, match="lone surrogate") as raised:
        key("private \ud800")
    assert "private" not in str(raised.value)
