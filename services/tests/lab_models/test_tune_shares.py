"""The share of words in the query as a setting that is tuned."""

from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar

from .tunings import TUNE, read


@pytest.mark.long
def test_the_share_of_words_in_the_query_is_chosen(tmp_path: Path) -> None:
    out = tmp_path / "shares.json"
    tuning = (
        *(*TUNE, "--limit", "6", "--budget", "1", "--out", str(out)),
        *("--trigger", "flare", "--query", "pfq,current_sentence", "--alpha", "25,100"),
    )
    ran = run_scaar(*tuning, "--format", "json")
    assert ran.status == 0, ran.err
    shares = {(each["query"], each["alpha"]) for each in ran.records}
    assert shares == {("pfq", 25), ("pfq", 100), ("current_sentence", None)}
    table = run_scaar(*tuning)
    assert "| flare | current_sentence | 0.5 | none | 1 |  | index |" in table.out, table.err
    (chosen,) = (each for each in ran.records if each["mark"] == "chosen")
    artefact = read(out)
    assert artefact.settings.alpha == chosen["alpha"]
    # A query by contributions needs the scorer, although the trigger does not.
    scorer = "lab-cross-encoder" if chosen["query"] == "pfq" else ""
    assert artefact.tuned_on.scorer == scorer
