"""Private text release: three systems over one small library of differential privacy.

`privlib.dp` noise, mechanisms, guarantees; `privlib.plans` semantic plans (DP-SPIN);
`privlib.synthesis` synthesis from embeddings (Fre-E2T); `privlib.quantization` dataset-level
secrets (QuanText); `privlib.corpora` where texts come from; `privlib.models` encoders, language
models, labellers; `privlib.experiments` notebooks, records, figures.
Subpackages load when first touched, so that `import privlib` costs numpy and scipy at most.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"
__all__ = ["corpora", "dp", "evaluation", "experiments", "models", "plans", "quantization", "synthesis"]


def __getattr__(name: str):
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
