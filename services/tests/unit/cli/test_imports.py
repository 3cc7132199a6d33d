import subprocess
import sys

import pytest

HEAVY = (
    *("aiohttp", "bm25s", "jax", "numpy", "onnxruntime", "openai", "opensearchpy", "scipy"),
    *("nltk", "rouge_score", "sacrebleu", "text_generation", "tokenizers", "torch"),
    *("alembic", "sqlalchemy", "transformers", "tritonclient"),
)


@pytest.mark.parametrize("module", ["scaar.cli.main", "scaar.cli.serve.commands", "scaar.client"])
def test_libraries_of_engines_are_loaded_only_when_they_are_needed(module: str) -> None:
    """A service has only the libraries of its own engine, and commands start quickly."""
    code = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")
