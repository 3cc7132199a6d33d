"""bm25s, imported without JAX.

Where JAX is installed, bm25s starts it to select the best scores, in about a second and 160 MB;
the retriever selects them itself.
"""

import sys

# An import of a module whose entry is None fails, which bm25s expects where there is no JAX.
_hides_jax = "jax" not in sys.modules
if _hides_jax:
    sys.modules["jax"] = None  # type: ignore[assignment]
try:
    import bm25s
finally:
    if _hides_jax:
        del sys.modules["jax"]

__all__ = ["bm25s"]
