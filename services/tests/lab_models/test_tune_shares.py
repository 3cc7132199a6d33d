"""The share of words in the query as a setting that is tuned."""

from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar

from .tunings import TUNE, read


@pytest.mark.long
def test_the_share_of_words_in_the_query_is_chosen(tmp_path: Path) -> None:
    out = tmp_path / "shares.json"
    ran = run_scaar(
        *(*TUNE, "--limit", "6", "--budget", "1", "--out", str(out), "--format", "json"),
        *("--trigger", "flare", "--query", "pfq", "--alpha", "25,100"),
    )
    assert ran.status == 0, ran.err
    assert {each["alpha"] for each in ran.records} == {25, 100}
    (chosen,) = (each for each in ran.records if each["mark"] == "chosen")
    artefact = read(out)
    assert artefact.settings.alpha == chosen["alpha"]
    # The query needs the scorer, although the trigger does not.
    assert artefact.tuned_on.scorer == "lab-cross-encoder"
