"""Where a model's files lie and what they hash to, found without loading the model.

A name that is a folder is read there and never asked of the network; only a name that looks like a
hub name (`owner/model` or `model`) is asked of the Hugging Face hub.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

from privlib import assets

WEIGHT_SUFFIXES = (".safetensors", ".bin", ".gguf", ".pt")
_SHAPING_SUFFIXES = (*WEIGHT_SUFFIXES, ".json", ".txt", ".model", ".jinja")
# Exports of the same weights for other runtimes: large, and never read here.
_OTHER_RUNTIMES = ("onnx", "openvino", "coreml", "original")


def locate(name_or_path: str | os.PathLike, owner: str | None = None) -> Path:
    """Folder that holds a model, from a path or from a hub name.

    Args:
        name_or_path: an existing folder, or a hub name.
        owner: hub owner put before a bare name, as sentence-transformers does.
    Raises:
        FileNotFoundError: no such folder, and the hub does not give it either; names both causes.
    """
    folder = Path(name_or_path).expanduser()
    if folder.is_dir():
        return folder.resolve()
    name = os.fspath(name_or_path)
    if isinstance(name_or_path, os.PathLike) or name.startswith((".", "/", "~")) or not 0 <= name.count("/") <= 1:
        raise FileNotFoundError(f"model folder {name!r} does not exist (looked at {folder.absolute()})")
    if owner is not None and "/" not in name:
        name = f"{owner}/{name}"
    from huggingface_hub import snapshot_download

    ignored = [f"{runtime}/*" for runtime in _OTHER_RUNTIMES]
    ignored += ["*.onnx", "*.h5", "*.msgpack", "*.ot", "*.pth"]
    try:
        return Path(snapshot_download(name, ignore_patterns=ignored))
    except Exception as cause:  # the client raises a dozen kinds: offline, missing, gated, no route
        raise FileNotFoundError(
            f"model {name_or_path!r} is no folder here and the Hugging Face hub did not give {name!r} "
            f"({type(cause).__name__}); pass a folder that holds the model, or check the name, the "
            "network and HF_HUB_OFFLINE"
        ) from cause


def checksum(folder: Path) -> str:
    """SHA-256 of a model's weights: of the one weight file, or of the sorted list of several.

    Raises FileNotFoundError when the folder holds no weight file.
    """
    found = _files(folder, WEIGHT_SUFFIXES)
    if not found:
        raise FileNotFoundError(f"no weight file ({', '.join(WEIGHT_SUFFIXES)}) under model folder {folder}")
    if len(found) == 1:
        return assets.sha256(found[0])
    return _digest(folder, found)


def fingerprint(folder: Path) -> str:
    """SHA-256 over every file that shapes a model's output: weights, vocabulary, configuration.

    Two folders with the same weights and another pooling or tokenizer differ here, so they never
    share cached results.
    """
    return _digest(folder, _files(folder, _SHAPING_SUFFIXES))


def _files(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    inside = (p for p in folder.rglob("*") if p.suffix in suffixes and p.is_file())
    kept = (p for p in inside if p.relative_to(folder).parts[0] not in _OTHER_RUNTIMES)
    return sorted(kept, key=lambda p: p.relative_to(folder).as_posix())


def _digest(folder: Path, files: list[Path]) -> str:
    lines = (f"{p.relative_to(folder).as_posix()} {assets.sha256(p)}\n" for p in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' bars and notices, which differ from run to run, out of notebooks.

    Of Python's warnings only deprecations are silenced, which are the libraries' own affair.
    """
    from transformers.utils import logging

    bar, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            for category in (DeprecationWarning, FutureWarning):
                warnings.filterwarnings("ignore", category=category)
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()
