"""Options of ``scaar tune`` that are refused before any work."""

from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar

from .tunings import TUNE, USAGE, threshold_tuned


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--policy", "ircot", "--budget", "1"), "--policy: ircot has no theta"),
        (("--policy", "maybe", "--budget", "1"), "there is no policy 'maybe'"),
        (("--budget", "0"), "--budget: must be above 0, not 0"),
        (("--budget", "1", "--set", "theta=0.3"), "--set: cannot fix theta, which is tuned"),
        (("--budget", "1", "--seed", "1", "--seed", "2"), "--seed: can be given once"),
        (("--budget", "1", "--trigger", "flare"), "--trigger: cannot be combined"),
        (("--budget", "1", "--latency-weight", "1"), "--latency-weight: cannot be combined"),
        (("--budget", "1", "--work", "{notes}"), "contains a.txt, not of a tuning"),
    ],
)
def test_an_invalid_tuning_of_a_threshold_is_refused(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("a")
    requested = [each.format(notes=tmp_path / "notes") for each in options]
    ran = threshold_tuned(tmp_path, *requested)
    assert (ran.status, ran.out) == (USAGE, "")
    assert message in ran.err
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--budget: or --catch must be given"),
        (("--budget", "1", "--catch", "0.9"), "only one of them"),
        (("--catch", "1"), "--catch: must be between 0 and 1, not 1"),
        (("--catch", "0.95"), "a risk of 0.05 needs 59: add questions"),
        (("--budget", "1", "--trigger", "maybe"), "--trigger: there is no trigger 'maybe'"),
        (("--budget", "1", "--trigger", "rind"), "--trigger: rind needs attention"),
        (("--budget", "1", "--query", "question"), "--query: question does not mask"),
        (("--budget", "1", "--alpha", "50"), "--alpha: needs a query of which alpha"),
        (("--budget", "1", "--query", "pfq", "--alpha", "0"), "--alpha: must be above 0 and at"),
        (("--budget", "1", "--query", "pfq", "--alpha", "half"), "--alpha: must be numbers"),
        (("--budget", "1", "--policy", "flare"), "--policy: is for --only threshold"),
        (("--budget", "1", "--limit", "2"), "--dataset: has questions about"),
        (("--budget", "1", "--label", "maybe"), "--label: there is no label 'maybe'"),
        (("--budget", "1", "--latency-weight", "-1"), "--latency-weight: must be at least 0"),
        (("--budget", "1", "--unit-time", "searches=5"), "--unit-time: needs a latency weight"),
        (("--budget", "1", "--unit-time", "walks=5"), "--unit-time: there is no unit 'walks'"),
        (("--budget", "1", "--unit-time", "searches=-5"), "--unit-time: must be searches=MS"),
        (("--budget", "1", "--learning-curve", "some"), "--learning-curve: must be whole numbers"),
        (("--budget", "1", "--learning-curve", "24"), "--learning-curve: must be 10 to"),
        (("--catch", "0.5", "--learning-curve", "12"), "--learning-curve: needs a budget"),
        (("--budget", "1", "--out", "policy.txt"), "--out: must be a file whose name ends in"),
        (("--budget", "1", "--out", "scaar.json"), "--out: names the policy, and its name is that"),
        (("--budget", "1", "--address", "dns:///127.0.0.1:1"), "--address: is for --only"),
        (("--budget", "1", "--work", "{notes}"), "contains a.txt but no evaluations.sqlite"),
    ],
)
def test_an_invalid_tuning_is_refused_before_any_work(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("a")
    requested = [each.format(notes=tmp_path / "notes") for each in options]
    ran = run_scaar(*TUNE, "--limit", "12", "--out", str(tmp_path / "policy.json"), *requested)
    assert (ran.status, ran.out) == (USAGE, "")
    assert message in ran.err
    assert not (tmp_path / "policy.tuning").exists()
