"""``scaar tune`` on the lab's models: serving a tuned policy, and resuming a tuning."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scaar.core.types import LabelKind
from scaar.evaluator.store.folder import DATABASE
from scaar.testing.commands import Ran, run_scaar
from scaar.testing.evaluations import prediction_records

from .tunings import FEW, SEEDS, USAGE, read, trajectories, tuned, work_of

OPTIONS = ("--trigger", "flare,perplexity,learned", "--label", "wrong", "--format", "json")


@pytest.fixture(scope="module")
def tuning(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """The artefact of a tuning, whose folder is beside it, and what the command printed."""
    out = tmp_path_factory.mktemp("tuning") / "tuned-lab.json"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(lab_home))
        ran = tuned(out, *OPTIONS)
    assert ran.status == 0, ran.err
    return out, ran


@pytest.mark.long
def test_a_tuned_policy_is_served_with_the_figures_of_its_tuning(
    tuning: tuple[Path, Ran], tmp_path: Path
) -> None:
    out, ran = tuning
    artefact = read(out)
    (chosen,) = (each for each in ran.records if each["mark"] == "chosen")
    assert artefact.settings.theta == chosen["theta"]
    assert "The chosen policy on all questions: f1 " in ran.err
    assert "than the trajectories state" not in ran.err
    assert (artefact.name, artefact.label_kind) == ("tuned-lab", LabelKind.EXACT)
    assert artefact.tuned_on.index == "lab-11, lab-12"
    assert artefact.tuned_on.prompt_profile == "lab@1"
    assert artefact.development.questions == len(SEEDS) * FEW
    assert artefact.development.candidates == len(ran.records)
    assert artefact.development.optimism is not None
    assert artefact.expected.searches_per_answer == pytest.approx(1.4, abs=0.15)
    asked = run_scaar("ask", "Who directed the film?", "--json", "--policy-file", str(out))
    assert asked.records[-1]["provenance"]["artefact_digest"] == artefact.digest
    # The figures are those of an evaluation of the artefact.
    results = tmp_path / "results"
    searches = []
    for seed in SEEDS:
        evaluated = run_scaar(
            *("eval", "run", "--dataset", "lab", "--seed", seed, "--limit", str(FEW)),
            *("--policy-file", str(out), "--out", str(results / seed)),
        )
        assert evaluated.status == 0, evaluated.err
        made = prediction_records(results / seed)
        searches += [each["usage"].get("searches", 0) for each in made]
    assert sum(searches) / len(searches) == pytest.approx(
        artefact.expected.searches_per_answer, abs=1e-3
    )


@pytest.mark.long
def test_a_tuning_resumes_without_a_model_call_and_with_the_same_result(
    tuning: tuple[Path, Ran], tmp_path: Path
) -> None:
    first, ran = tuning
    out = shutil.copytree(first.parent, tmp_path / "copy") / first.name
    artefact, work = out.read_bytes(), work_of(out)
    made = trajectories(work)
    # Half of them were not made yet.
    with closing(sqlite3.connect(work / DATABASE)) as connection, connection:
        connection.execute("DELETE FROM study_records WHERE part != 'questions' AND rowid % 2")
    assert len(trajectories(work)) < len(made)
    again = tuned(out, *OPTIONS)
    assert (again.status, again.out) == (0, ran.out)
    assert out.read_bytes() == artefact
    assert trajectories(work) == made
    other = tuned(out, *OPTIONS, "--timeout", "50")
    assert other.status == USAGE
    assert "--work: " in other.err
    assert "contains another tuning: timeout_s is 60.0 in the stored one" in other.err
