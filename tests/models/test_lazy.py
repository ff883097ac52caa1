from __future__ import annotations

import subprocess
import sys


def test_importing_models_loads_nothing_heavy():
    code = "import sys, privlib.models; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(shown.split())
    heavy = {"torch", "transformers", "sentence_transformers", "sklearn", "openai", "pandas", "huggingface_hub"}
    assert "numpy" in loaded
    assert not loaded & heavy


def test_describing_the_packaged_encoder_loads_no_torch():
    code = "import sys; from privlib import models; models.encoder(); print('torch' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "False"
