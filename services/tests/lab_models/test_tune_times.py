"""``scaar tune`` on the lab's models: measured times, and the drafts with both labels."""

import json
from pathlib import Path

import pytest

from .tunings import read, trajectories, tuned, work_of


@pytest.mark.long
def test_measured_times_are_stored_so_that_a_tuning_resumes_with_the_same_result(
    tmp_path: Path,
) -> None:
    out, drafts = tmp_path / "policy.json", tmp_path / "drafts.jsonl"
    options = ("--trigger", "perplexity,learned", "--label", "wrong,benefit")
    options += ("--latency-weight", "0.5", "--drafts", str(drafts))
    first = tuned(out, *options)
    assert first.status == 0, first.err
    artefact = out.read_bytes()
    assert read(out).latency is not None
    timed = {part for part, _, _ in trajectories(work_of(out)) if part.startswith("times of")}
    assert timed == {"times of no_retrieval", "times of single_round", "times of flare"}
    again = tuned(out, *options)
    assert (again.status, again.out) == (0, first.out)
    assert out.read_bytes() == artefact
    labelled = [json.loads(line) for line in drafts.read_text().splitlines()]
    assert {True, False} <= {each["wrong"] for each in labelled}
    assert any(each["gain"] > 0 for each in labelled)
    assert all({"surprisal_max", "words"} <= each["signals"].keys() for each in labelled)
    assert all("perplexity" in each["scores"] for each in labelled)
    assert "A retrieval makes the answer better for" in first.err
