"""The scorer as an axis of evaluations, on the lab's models: its controls decide differently."""

import sqlite3
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from scaar.testing.commands import Ran, run_scaar
from scaar.testing.evaluations import evaluation_record, prediction_records
from scaar.testing.processes import running_service

FAILURE, USAGE = 1, 2
CONTROLS = ("permuted", "constant", "idf")
SCAAR = ("scaar", *(f"scaar:scorer={control}" for control in CONTROLS))
BESIDE = ("flare", "flare:spare_stop_words=true", "flare:include_question=true")
LABELS = ("no_retrieval", *SCAAR, *BESIDE)
WITHOUT_TIMES = ("retrievals", "llm_calls", "prompt_tokens")


def ablated(out: Path, *options: str, limit: int = 10) -> Ran:
    requested = ("--dataset", "lab", "--limit", str(limit), "--out", str(out))
    return run_scaar("eval", "ablate", "scorer", *requested, *options)


def evaluated(out: Path, *options: str) -> Ran:
    return run_scaar(
        "eval", "run", "--dataset", "lab", "--limit", "20", "--out", str(out), *options
    )


def predictions(out: Path, setting: str) -> list[dict[str, Any]]:
    return [each for each in prediction_records(out) if each["setting"] == setting]


def weights(prediction: dict[str, Any]) -> list[float]:
    """The contributions of the first sentence, which every setting drafts alike."""
    return [word["contribution"] for word in prediction["decisions"][0]["words"]]


def decided(out: Path, setting: str) -> list[Any]:
    """All that was decided and answered under a setting, but for contributions and signals."""
    found = []
    for each in predictions(out, setting):
        decisions = [
            {
                **{name: value for name, value in decision.items() if name != "signals"},
                "words": [
                    {**word, "contribution": None, "threshold": None}
                    for word in decision.get("words", ())
                ],
            }
            for decision in each["decisions"]
        ]
        bill = [each["usage"][name] for name in WITHOUT_TIMES]
        found.append((each["question_id"], each["answer"], each["text"], decisions, bill))
    return found


@pytest.fixture(scope="module")
def ran(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """The ablation of the scorer, run once."""
    out = tmp_path_factory.mktemp("ablated")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(lab_home))
        return out, ablated(out)


@pytest.mark.long
def test_the_ablation_evaluates_scaar_with_every_control(ran: tuple[Path, Ran]) -> None:
    out, output = ran
    assert output.status == 0
    rows = [line.strip("| ").split(" | ")[0] for line in output.out.splitlines()[2:]]
    assert tuple(rows) == LABELS
    made = evaluation_record(out)
    assert [each.get("scorer") for each in made["settings"]] == [None, None, *CONTROLS, *[None] * 3]
    assert [made["provenance"][label]["scorer"] for label in LABELS] == [
        *("", "lab-cross-encoder", "lab-cross-encoder+permuted", "lab-cross-encoder+constant"),
        *("wordfreq+idf", "", "", ""),
    ]
    for label in LABELS:
        assert len(predictions(out, label)) == 10


@pytest.mark.long
def test_each_control_keeps_the_declared_part_of_the_contributions(ran: tuple[Path, Ran]) -> None:
    out, _ = ran
    rows = zip(*(predictions(out, label) for label in SCAAR), strict=True)
    for itself, permuted, constant, idf in rows:
        own = weights(itself)
        assert Counter(weights(permuted)) == Counter(own)
        assert weights(permuted) != own
        assert weights(constant) == [pytest.approx(sum(own) / len(own))] * len(own)
        assert weights(idf) != own
        words = [word["text"].strip(".,?").lower() for word in itself["decisions"][0]["words"]]
        by_word = dict(zip(words, weights(idf), strict=True))
        assert min(by_word, key=by_word.__getitem__) in ("the", "was", "film")


@pytest.mark.long
def test_each_control_decides_differently_for_some_questions(ran: tuple[Path, Ran]) -> None:
    out, _ = ran
    own = decided(out, "scaar")
    for label in SCAAR[1:]:
        assert decided(out, label) != own


@pytest.mark.long
def test_constant_contributions_under_surprisal_decide_as_flare_does(tmp_path: Path) -> None:
    theta = "theta=0.35"
    evaluated(tmp_path / "flare", "--policies", "flare", "--set", theta)
    requested = ("--set", theta, "--set", "trigger=surprisal", "--set", "query=current_sentence")
    evaluated(tmp_path / "scaar", "--policies", "scaar", *requested, "--scorer", "none,constant")
    label = "scaar:theta=0.35,trigger=surprisal,query=current_sentence"
    flare = decided(tmp_path / "flare", "flare:theta=0.35")
    assert decided(tmp_path / "scaar", f"{label},scorer=constant") == flare
    assert decided(tmp_path / "scaar", label) != flare
    assert any(bill[0] for *_, bill in flare)


@pytest.mark.long
def test_a_folder_is_resumed_rescored_shown_and_compared(
    ran: tuple[Path, Ran], tmp_path: Path
) -> None:
    out, _ = ran
    before = [decided(out, label) for label in LABELS]
    with closing(sqlite3.connect(out / "evaluations.sqlite")) as database, database:
        database.execute(
            "DELETE FROM predictions WHERE rowid NOT IN (SELECT rowid FROM predictions "
            "ORDER BY question, setting LIMIT 17)"
        )
        database.execute("UPDATE shards SET done = 0")
        database.execute("UPDATE evaluations SET state = 'running'")
    again = ablated(out)
    assert "17 of 80 predictions exist, resuming" in again.err
    assert [decided(out, label) for label in LABELS] == before
    assert run_scaar("eval", "rescore", str(out)).out == again.out
    question = predictions(out, "scaar")[0]["question_id"]
    requested = ("--question", question, "--setting", "scaar:scorer=idf")
    shown = run_scaar("eval", "show", str(out), *requested)
    assert shown.status == 0
    assert "wordfreq+idf" in shown.out
    ablated(tmp_path / "few", limit=4)
    compared = run_scaar("eval", "compare", str(out), str(tmp_path / "few"))
    assert all(f"| {label} |" in compared.out for label in LABELS)
    requested = ("--reference", "scaar:scorer=permuted", "--out", str(tmp_path / "report"))
    assert run_scaar("eval", "report", str(out), *requested).status == 0
    assert "lab-cross-encoder+permuted" in (tmp_path / "report" / "report.md").read_text()


@pytest.mark.long
def test_thetas_are_placed_at_each_controls_own_scores(tmp_path: Path) -> None:
    output = ablated(tmp_path, "--grid", "2")
    assert output.status == 0
    candidates = evaluation_record(tmp_path)["grid"]["candidates"]
    assert list(candidates) == [*SCAAR, "flare", "flare:spare_stop_words=true"]
    assert len({tuple(thetas) for thetas in candidates.values()}) > 3


@pytest.mark.long
def test_every_control_has_its_running_orchestrator(lab_home: Path, tmp_path: Path) -> None:
    with ExitStack() as stack:
        targets = {
            control: stack.enter_context(
                running_service("orchestrator", lab_home, SCAAR_SCORER_CONTROL=control)
            )
            for control in ("none", *CONTROLS)
        }
        requested = ["--address", targets["none"].target]
        for control in CONTROLS:
            requested += ["--address", f"{control}={targets[control].target}"]
        output = ablated(tmp_path / "there", *requested, limit=4)
        assert output.status == 0
        swapped = [
            *("--scorer", "none,idf", "--policies", "scaar"),
            *(
                "--address",
                targets["none"].target,
                "--address",
                f"idf={targets['permuted'].target}",
            ),
        ]
        wrong = evaluated(tmp_path / "wrong", *swapped)
    assert wrong.status == USAGE
    assert (
        "scaar:scorer=idf needs the control idf, but is answered with lab-cross-encoder+permuted"
        in (wrong.err)
    )
    assert not (tmp_path / "wrong").exists()
    ablated(tmp_path / "here", limit=4)
    for label in LABELS:
        assert decided(tmp_path / "there", label) == decided(tmp_path / "here", label)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--address", "dns:///127.0.0.1:1"),
            "permuted has no orchestrator: give --address permuted=",
        ),
        (("--address", "idf=dns:///127.0.0.1:1"), "is given for idf only: give the orchestrator"),
        (("--address", "rare=dns:///127.0.0.1:1"), "there is no control 'rare' of the scorer"),
        (("--set", "spare_stop_words=true"), "spare_stop_words: is varied by the ablation scorer"),
        (("--grid", "3", "--set", "theta=0.3"), "--grid: cannot be combined with values of theta"),
    ],
)
def test_invalid_options_are_named_before_any_work(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    ran = ablated(tmp_path / "out", *options)
    assert (ran.status, ran.out) == (USAGE, "")
    assert message in ran.err
    assert not (tmp_path / "out").exists()


def test_a_scorer_that_is_a_control_cannot_be_compared_with_controls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_SCORER_CONTROL", "permuted")
    ran = ablated(tmp_path / "out", limit=2)
    assert ran.status == USAGE
    text = "scaar needs the scorer itself, but is answered with lab-cross-encoder+permuted"
    assert text in ran.err
    assert not (tmp_path / "out").exists()
    alone = evaluated(tmp_path / "alone", "--policies", "scaar")
    assert alone.status == 0
    made = evaluation_record(tmp_path / "alone")["provenance"]["scaar"]
    assert made["scorer"] == "lab-cross-encoder+permuted"
