"""``scaar tune`` on questions of a file, which are labelled by counterfactual answers."""

import json
from pathlib import Path

import pytest

from scaar.core.types import LabelKind
from scaar.testing.commands import run_scaar

from .tunings import read


@pytest.mark.long
def test_other_data_sets_are_labelled_by_counterfactual_answers(tmp_path: Path) -> None:
    asked = run_scaar("lab", "questions", "--count", "20").records
    file, out = tmp_path / "questions.jsonl", tmp_path / "policy.json"
    fields = ("id", "question", "answers")
    file.write_text("\n".join(json.dumps({name: x[name] for name in fields}) for x in asked))
    ran = run_scaar(
        *("tune", "--dataset", f"jsonl:{file}", "--index", "lab", "--budget", "1.4"),
        *("--trigger", "learned", "--query", "current_sentence", "--out", str(out)),
    )
    assert ran.status == 0, ran.err
    artefact = read(out)
    assert artefact.label_kind is LabelKind.COUNTERFACTUAL
    assert artefact.learned is not None
    assert artefact.learned.label == "benefit"
    assert artefact.learned.harm_coefficients is not None
    refused = run_scaar(
        *("tune", "--dataset", f"jsonl:{file}", "--index", "lab", "--budget", "1.4"),
        *("--label", "wrong", "--out", str(tmp_path / "other.json")),
    )
    assert "--label: cannot be wrong: only the lab knows" in refused.err
    asked_again = run_scaar("ask", asked[0]["question"], "--json", "--policy-file", str(out))
    policy = asked_again.records[-1]["provenance"]["policy"]
    assert (policy["name"], policy["trigger"]) == ("policy", "learned")
