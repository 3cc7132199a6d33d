"""The examples of docs/gateway.md and of the README, run as the pages say."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDRESS = "localhost:8090"
RELEASED = "The film The Velvet Statue was released in 1937. So the answer is 1937."
PATIENCE_S = 120


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of a page in a language that call the gateway."""
    text = (ROOT / page).read_text()
    found = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return [each for each in found if ADDRESS in each]


def ran(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def expected_of(block: str) -> list[str]:
    """Return what the example prints."""
    if "decisions" in block and "mcp" not in block:
        return ["query: When was the film The Velvet Statue released?"]
    if "Haunted Fountain" in block and "responses" in block:
        return ["The film The Haunted Fountain", "True"]
    if "mcp" in block:
        return ["['answer', 'search', 'explain', 'would_retrieve']", RELEASED, "Uncertain: '19"]
    if '"<-"' in block:
        return [RELEASED, f"<- The Velvet Statue http://{ADDRESS}/passages/lab/film-"]
    return [RELEASED]


EXAMPLES = [
    *((page, each) for page in ("docs/gateway.md", "README.md") for each in blocks(page, "python")),
]


@pytest.mark.parametrize(("page", "block"), EXAMPLES)
def test_a_python_example_runs(
    page: str, block: str, gateway: str, python: str, tmp_path: Path
) -> None:
    (tmp_path / "example.py").write_text(block.replace(ADDRESS, gateway))
    out = ran([python, "example.py"], tmp_path)
    for text in expected_of(block):
        assert text.replace(ADDRESS, gateway) in out, out


def test_the_javascript_example_runs(gateway: str, tmp_path: Path) -> None:
    (block,) = blocks("docs/gateway.md", "javascript")
    here = Path(__file__).parent
    for name in ("package.json", "package-lock.json"):
        shutil.copy(here / name, tmp_path / name)
    ran(["npm", "ci", "--no-audit", "--no-fund", "--silent"], tmp_path)
    (tmp_path / "example.mjs").write_text(block.replace(ADDRESS, gateway))
    assert ran(["node", "example.mjs"], tmp_path).strip() == RELEASED


def test_the_commands_of_the_shell_run(gateway: str, tmp_path: Path) -> None:
    chat, retrieve = blocks("docs/gateway.md", "bash")
    assert RELEASED in ran(["bash", "-euc", chat.replace(ADDRESS, gateway)], tmp_path)
    out = ran(["bash", "-euc", retrieve.replace(ADDRESS, gateway)], tmp_path)
    assert '"The Velvet Statue' in out
    assert '"score"' in out
