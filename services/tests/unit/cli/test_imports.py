import subprocess
import sys

import pytest

HEAVY = (
    *("aiohttp", "bm25s", "jax", "numpy", "onnxruntime", "openai", "opensearchpy", "scipy"),
    *("nltk", "rouge_score", "sacrebleu", "text_generation", "tokenizers", "torch"),
    *("alembic", "sqlalchemy", "transformers", "tritonclient"),
)


@pytest.mark.parametrize("module", ["scaar.cli.main", "scaar.cli.serve", "scaar.client"])
def test_nothing_of_an_engine_is_loaded_before_it_is_needed(module: str) -> None:
    """A service has only the libraries of its own engine, and a command starts at once."""
    told = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", told],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")
