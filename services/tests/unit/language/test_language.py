"""Test that the checks of the language find what they list, and only in prose."""

import subprocess
import sys
from pathlib import Path

import pytest

from language.__main__ import PHRASES
from language.phrases import find_phrases, read_phrases
from language.prose import prose_of

SOURCES = {
    "page.md": """\
# Policies

They are held against `held against` and
held
against [this](held-against.md).

```sh
held against
```
""",
    "call.proto": """\
// A call, which is told of
// progress.
message Told {}  // by turns
""",
    "module.py": '''\
"""Told of late."""

held_against = "so many"  # of however many
text = (f"it goes "
        f"on: {held_against}")
code = "`by turns`"
''',
    "values.yaml": """\
# Whoever asks.
whoever: asks  # is told
""",
    "Makefile": """\
test: ## run the tests by turns
	@echo by turns
""",
}
FOUND = {
    "page.md": [(3, "held against"), (4, "held against")],
    "call.proto": [(1, "is told"), (1, "told of"), (3, "by turns")],
    "module.py": [
        (1, "Told of"),
        (1, "of late"),
        (3, "however many"),
        (3, "so many"),
        (4, "goes on"),
    ],
    "values.yaml": [(1, "Whoever"), (2, "is told")],
    "Makefile": [(1, "by turns")],
}


@pytest.mark.parametrize("name", SOURCES)
def test_phrases_are_found_in_prose_with_their_lines(name: str) -> None:
    prose = prose_of(Path(name), SOURCES[name])
    found = [(each.line, each.text) for each in find_phrases(prose, read_phrases(PHRASES))]
    assert sorted(found) == sorted(FOUND[name])


def test_a_phrase_is_allowed_in_its_contexts(tmp_path: Path) -> None:
    path = tmp_path / "phrases.toml"
    path.write_text(
        '[[phrase]]\navoid = "at once"\nwrite = "concurrently"\nallow = ["all at once"]\n'
    )
    found = list(find_phrases("All at\nonce. Two at once.", read_phrases(path)))
    assert [(each.line, each.text, each.phrase.write) for each in found] == [
        (2, "at once", "concurrently")
    ]


def test_words_of_the_project_are_found_by_codespell(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("It is told anew.\nA recieved word.\nNothing here.\n")
    words = PHRASES.with_name("words.txt")
    dictionaries = ["--dictionary=-", f"--dictionary={words}"]
    command = [sys.executable, "-m", "codespell_lib", *dictionaries, str(page)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ended.returncode != 0
    found = [line.removeprefix(f"{page}:") for line in ended.stdout.splitlines()]
    assert found == ["1: told ==> reported", "1: anew ==> again", "2: recieved ==> received"]
