"""The help of every command at 80 columns."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from typer.main import get_command

from scaar.cli.main import app
from scaar.testing.commands import run_scaar

WIDTH = 80


def commands(command: object, *path: str) -> Iterator[tuple[str, ...]]:
    """The paths of all commands and groups."""
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *path, name)


@pytest.mark.parametrize("path", list(commands(get_command(app))), ids=" ".join)
def test_help_is_whole_and_every_option_is_described(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    ran = run_scaar(*path, "--help")
    assert (ran.status, ran.err) == (0, "")
    usage, *lines = ran.out.splitlines()
    assert usage.startswith("Usage: scaar")
    assert not [line for line in lines if line.rstrip().endswith("...")], "cut at this width"
    assert max(map(len, ran.out.splitlines())) <= 2 * WIDTH
    options = [line for line in ran.out.splitlines() if line.startswith("  -")]
    assert options
    for metavar in ("<str>", "<int>", "<float>", "<path>", "range>"):
        assert not any(metavar in line for line in options)


def test_without_its_packages_the_command_line_says_what_to_install() -> None:
    blocked = "import sys; sys.modules['typer'] = None; from scaar.cli.__main__ import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", blocked, "--help"],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "scaar: the command line needs typer: install scaar[cli]\n"
