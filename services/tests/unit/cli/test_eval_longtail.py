import re
from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar

LABEL = ("eval", "longtail", "label", "--dataset", "lab", "--limit", "2")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--model", "http://127.0.0.1:8080"), "--model: .* a server gives no gradients"),
        (("--model", "m", "--share", "1"), "--share: must be above 0 and below 1, not 1"),
        (("--model", "m", "--share", "nan"), "--share: must be above 0 and below 1, not nan"),
        (("--model", "m", "--frequencies", "none.gz"), "--frequencies: .* no file none.gz"),
        (("--model", "m", "--limit", "0"), "--limit: must be at least 1, not 0"),
    ],
)
def test_a_wrong_option_is_one_line_that_names_it(
    tmp_path: Path, given: tuple[str, ...], told: str
) -> None:
    ran = run_scaar(*LABEL, *given, "--out", str(tmp_path / "out"))
    assert ran.status == 2
    assert len(ran.err.splitlines()) == 1
    assert re.search(told, ran.err), ran.err
    assert not (tmp_path / "out").exists()


def test_an_empty_reference_in_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "q1", "question": "Who?", "answers": ["  "]}\n')
    ran = run_scaar(
        *("eval", "longtail", "label", "--dataset", f"jsonl:{file}", "--model", "m"),
        *("--out", str(tmp_path / "out")),
    )
    assert ran.status == 2
    assert "q.jsonl record 1, answers: must hold at least one string that is not empty" in ran.err


def test_a_folder_without_labels_is_told(tmp_path: Path) -> None:
    ran = run_scaar("eval", "longtail", "show", str(tmp_path))
    assert (ran.status, ran.out) == (1, "")
    assert "holds no labels: there is no labelling.json" in ran.err
