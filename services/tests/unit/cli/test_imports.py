import subprocess
import sys

import pytest

from scaar.cli.main import COMMANDS

HEAVY = (
    *("aiohttp", "bm25s", "jax", "numpy", "onnxruntime", "openai", "opensearchpy", "scipy"),
    *("nltk", "rouge_score", "sacrebleu", "text_generation", "tokenizers", "torch"),
    *("alembic", "sqlalchemy", "transformers", "tritonclient"),
)


MODULES = sorted({place.partition(":")[0] for place in COMMANDS.values()})


def run(code: str) -> tuple[str, str]:
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        text=True,
    )
    return ran.stdout, ran.stderr


@pytest.mark.parametrize("modules", [MODULES, ["scaar.cli.serve.commands"], ["scaar.client"]])
def test_libraries_of_engines_are_loaded_only_when_they_are_needed(modules: list[str]) -> None:
    """A service has only the libraries of its own engine, and commands start quickly."""
    code = f"import sys, {', '.join(modules)}; print([n for n in {HEAVY} if n in sys.modules])"
    assert run(code) == ("[]\n", "")


def test_a_command_is_started_without_the_others() -> None:
    code = f"""
import sys
from scaar.cli.main import app
app(["dataset", "--help"], standalone_mode=False)
print(set({MODULES}) & set(sys.modules), file=sys.stderr)
"""
    assert run(code)[1] == "{'scaar.cli.dataset'}\n"
