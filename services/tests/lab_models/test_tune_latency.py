"""``scaar tune`` on the lab's models: the time of answers, and the learning curve."""

import json
from pathlib import Path

import pytest

from scaar.testing.commands import Ran

from .tunings import read, trajectories, tuned, work_of

UNITS = ("llm_calls", "prompt_tokens", "generated_tokens", "searches", "scored_sentences")


@pytest.fixture(scope="module")
def tuning(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """The artefact of a tuning where reading takes long, and what the command printed.

    Its report is beside it.
    """
    out = tmp_path_factory.mktemp("tuning") / "fast.json"
    times = {**dict.fromkeys(UNITS, "0"), "prompt_tokens": "50"}
    given = [f"--unit-time={name}={ms}" for name, ms in times.items()]
    curve = ("--learning-curve", "12,16", "--report", str(out.with_name("report.json")))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(lab_home))
        ran = tuned(out, "--trigger", "perplexity", "--latency-weight", "0.2", *given, *curve)
    assert ran.status == 0, ran.err
    return out, ran


@pytest.mark.long
def test_a_latency_weight_prefers_fewer_passages_if_reading_takes_long(
    tuning: tuple[Path, Ran],
) -> None:
    out, ran = tuning
    artefact = read(out)
    assert artefact.settings.top_k == 1
    assert artefact.latency is not None
    assert artefact.latency.weight == 0.2
    assert {each.unit: each.ms for each in artefact.latency.unit_times_ms}["prompt_tokens"] == 50
    assert "Candidates are compared by f1 minus 0.2 a second." in ran.err
    candidates = json.loads(out.with_name("report.json").read_bytes())["candidates"]
    few, many = (
        [each["seconds"]["value"] for each in candidates if each["top_k"] == top_k]
        for top_k in (1, 3)
    )
    assert max(few) < min(many)
    # Nothing was timed, because every time was given.
    assert not any(part.startswith("times of") for part, _, _ in trajectories(work_of(out)))


@pytest.mark.long
def test_a_learning_curve_is_reported_beside_the_choice(tuning: tuple[Path, Ran]) -> None:
    out, ran = tuning
    points = json.loads(out.with_name("report.json").read_bytes())["learning_curve"]
    assert [each["questions"] for each in points] == [12, 16]
    assert all(each["chosen"] == ["perplexity"] * 5 for each in points)
    assert "Tuned on 12 questions, on the other folds: f1 " in ran.err
