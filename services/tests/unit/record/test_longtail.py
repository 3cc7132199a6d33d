"""The page of the long tail, of results whose numbers are known by hand."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from record.evaluations import add_command, command_of
from record.longtail.gated_evaluation import read_gated
from record.longtail.page import LONGTAIL
from record.longtail.plan import LABELS, LEARNED_FROM, RUN, gated_policies, plan
from record.longtail.plan import gate_file as gate_name
from record.page import write_page
from scaar.core.errors import DataCorrupt, InvalidRequest
from scaar.core.gates.proxy import Evidence, GateProxy
from scaar.core.gates.proxy_json import proxy_from_json, proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.types import GateJudged, Usage
from scaar.evaluator.records import Prediction, Question, Setting
from scaar.evaluator.results import DatasetOrigin, Evaluation
from scaar.evaluator.statistics import detection
from scaar.evaluator.store.database.studies import open_study
from scaar.evaluator.studies.longtail.folder import LABELLING
from scaar.evaluator.studies.longtail.folder import LABELS as LABELS_PART
from scaar.evaluator.studies.longtail.gece import Variant
from scaar.evaluator.studies.longtail.records import Label, Labelling, Parts
from scaar.testing import evaluations

QUESTIONS = tuple(
    Question(
        *(f"q{at}", "Who?", ("Ada Low",), f"e{at}"),
        labels=(
            ("popularity", "tail" if at % 5 == 0 else "head"),
            ("kind", "one_hop"),
            ("rank", "tail" if at % 5 == 0 else "201 to 800" if at % 5 == 1 else "1 to 50"),
        ),
    )
    for at in range(20)
)
TAIL = frozenset(each.id for each in QUESTIONS if ("popularity", "tail") in each.labels)
PASSED = TAIL ^ {"q0", "q1"}
"""What the gate passes: one of the tail it takes for common, and one of the head for the tail."""
SETTINGS = gated_policies(("no_retrieval", "single_round")).settings()
PROXY = GateProxy("lm", "", WordStatistics("none", {}, 0.1), 5.0, (0.0, 0.0, -10.0), 0.5)
"""It goes by confidence alone, and passes what is below one half."""
OTHER = replace(PROXY, weights=(0.0, 0.0, 10.0), bias=-5.0)
"""It passes what the one does not."""
GATE, OTHER_GATE = gate_name(Variant.GECE), gate_name(Variant.GAP)
NAMES = (LEARNED_FROM, GATE, OTHER_GATE, LABELS, RUN)
LEARNED: dict[str, object] = {
    "labels by": "gece",
    "development": 10,
    "test": 10,
    "precision on test": 0.75,
    "AUROC on test": None,
}


def prediction(setting: Setting, question: Question) -> Prediction:
    """Right where the model knows it or has looked it up; a retrieval is 30 ms and a call more."""
    passed, gate = question.id in PASSED, None
    if setting.policy.overrides.gate is not None:
        evidence = Evidence(0.1, 0.1, 1.0 - passed)
        chosen = setting.policy.name if passed else "no_retrieval"
        probability = PROXY.probability(evidence)
        gate = GateJudged("gece_proxy", chosen, probability, 0.5, asdict(evidence))
    looks_up = setting.policy.name != "no_retrieval" and (gate is None or passed)
    right = looks_up or question.id not in TAIL
    usage = Usage(looks_up, 1 + looks_up, 10, 20, 10.0 + 30 * looks_up)
    answer = "Ada Low" if right else "Bea"
    return Prediction(setting.label, question.id, answer, answer, usage, gate=gate)


def gate_file(proxy: GateProxy = PROXY, **reported: object) -> bytes:
    return proxy_to_json(proxy, learned_from=LEARNED | reported)


def evaluation(settings: tuple[Setting, ...]) -> Evaluation:
    revision = proxy_from_json(gate_file(), "gate").revision
    made = {
        each.label: replace(
            evaluations.provenance(each.label),
            gate_revision=revision if each.policy.overrides.gate else "",
        )
        for each in settings
    }
    return replace(evaluations.EVALUATION, settings=settings, provenance=made)


async def keep_run(
    folder: Path, settings: tuple[Setting, ...] = SETTINGS, *, without: int = 0
) -> None:
    requested = [prediction(setting, question) for question in QUESTIONS for setting in settings]
    made = requested[: len(requested) - without]
    await evaluations.store(folder, made, evaluation=evaluation(settings), questions=QUESTIONS)


async def keep_labels(folder: Path, seed: int, questions: tuple[Question, ...] = QUESTIONS) -> None:
    """GECE finds the tail, and so it does without statistics; without semantics it does not."""
    origin = DatasetOrigin("lab", "", seed, len(questions), "c0ffee")
    labelling = Labelling(
        *("1.0", "2030-01-01T00:00:00+00:00", origin, "lm", "1", "lab@1", "none"), ("w",), 0.2
    )
    of_tail_first = sorted(questions, key=lambda each: each.id not in TAIL)
    ranks = {each.id: rank for rank, each in enumerate(of_tail_first, 1)}
    labels = [
        Label(
            *(each.id, each.question, "Ada Low", "Bea", Parts(0.5, 0.2, 0.1, 1.0)),
            *(0.5, 0.1, 0.1, 3.0, ranks[each.id], ranks[each.id] <= 4),
            *(ranks[each.id], len(questions) + 1 - ranks[each.id]),
        )
        for each in questions
    ]
    async with open_study(folder, LABELLING, labelling, questions) as store:
        await store.part(LABELS_PART).add(labels)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests read means; the intervals are tested with the statistics."""
    monkeypatch.setattr(detection, "RESAMPLES", 100)


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    found = tmp_path / "longtail"
    found.mkdir()
    await keep_labels(found / LEARNED_FROM, 1000)
    (found / GATE).write_bytes(gate_file())
    (found / OTHER_GATE).write_bytes(gate_file(OTHER, **{"labels by": "gap"}))
    await keep_labels(found / LABELS, 2000)
    await keep_run(found / RUN)
    for name in NAMES:
        add_command(found, name, f"scaar --out .longtail/{name}")
    return found


def page_of(root: Path, docs: Path) -> str:
    return write_page(root, docs, LONGTAIL).read_text()


def rows(page: str, title: str) -> dict[str, list[str]]:
    """The cells of a table by its first, without intervals."""

    def lines() -> Iterator[str]:
        after = page.index(title)
        for line in page[after:].splitlines()[1:]:
            if line.startswith("|"):
                yield line
            elif line.strip() and not line.startswith(("<", "!")):
                return

    cells = (
        [each.split(" [")[0].split(" \\[")[0].strip() for each in x[1:-1].split("|")]
        for x in lines()
    )
    return {first: others for first, *others in cells}


def test_the_page_has_its_parts_with_their_commands_and_the_same_results_give_the_same(
    root: Path, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    page = page_of(root, docs)
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## What GECE finds",
        "## What the gate finds",
        "## What the gate saves",
        "## What the gate loses",
        "## What GECE's parts are worth",
        "## Other thresholds",
        "## Provenance",
    ]
    for name in NAMES:
        assert f"\nscaar --out .longtail/{name}\n" in page
    figures = sorted(each.name for each in (docs / "longtail").iterdir())
    assert figures == ["policies-gated.svg", "policies-shares-single_round.svg"]
    assert all(f"](longtail/{each})" in page for each in figures)
    assert page_of(root, docs) == page


def test_the_detection_of_the_tail_is_reported(root: Path, tmp_path: Path) -> None:
    page = page_of(root, tmp_path)
    orders = rows(page, "**Detection of the tail, seed 2000**")
    assert orders["GECE"] == ["1.000", "1.000"]
    assert orders["GECE without semantics"] == ["0.000", "0.000"]
    assert "Detection of the tail, seed 1000" in page
    # Half of what is to be found is the tail, which all stands first.
    more = rows(page, "**Detection of the tail and hardly known films, seed 2000**")
    assert more["GECE"][0] == "1.000"
    assert "40% of the questions are of the tail" in page
    assert rows(page, "**GECE by kind, seed 2000**")["one_hop"] == [
        *("20", "0.20", "0.00", "0.20", "1.00")
    ]
    gate = rows(page, "**Questions that the gate passes, learned from the labels of GECE**")
    for against in ("the known tail", "what the model alone answers wrong (F1 below 0.5)"):
        assert gate[against][:3] == ["0.200", "0.750", "0.750"]
    others = rows(page, "**Gates learned from other labels, compared with the known tail**")
    assert others["GECE"][:5] == ["0.750", "undefined", "0.200", "0.750", "0.750"]
    # It passes one of the tail among sixteen.
    assert others["the gap of METEOR and probability"][2:5] == ["0.800", "0.062", "0.250"]


def test_speed_ups_and_losses_are_those_worked_by_hand(root: Path, tmp_path: Path) -> None:
    page = page_of(root, tmp_path)
    sped = rows(page, "**Work without the gate, divided by work with the gate**")
    # 40 ms and 2 calls with a retrieval, 10 ms and 1 call without; one question in five passes.
    assert sped["single_round"] == ["2.50", "5.00", "1.67", "2.1 to 2.4"]
    lost = rows(page, "**Changes with the gate**")
    # One question of the tail in twenty is no longer retrieved for.
    assert lost["single_round"][0] == "-0.050"
    # One question in five at random has F1 0.2 * 1.0 + 0.8 * 0.8, and the gate 0.95.
    assert lost["single_round"][4] == "+0.110"
    apart = rows(page, "**F1 of head and tail**")
    assert apart["single_round"] == ["1.000", "1.000", "0.000", "1.000", "0.750", "-0.250"]


def test_the_scores_of_deciders_follow_from_stored_answers(root: Path, tmp_path: Path) -> None:
    page = page_of(root, tmp_path)
    found = rows(page, "**single_round, only for the questions that each decider calls long-tail**")
    f1 = {name: cells[3] for name, cells in found.items()}
    assert f1 == {
        "decider": "F1",
        "---": "---:",
        "nobody": "0.800",
        "the known tail": "1.000",
        "what the model alone answers wrong (F1 below 0.5)": "1.000",
        "GECE": "1.000",
        "GECE without statistics": "1.000",
        "GECE without semantics": "0.800",
        "the gap of METEOR and probability": "0.850",
        "the gate learned from GECE": "0.950",
        "the gate learned from the gap of METEOR and probability": "0.850",
        "everybody": "1.000",
    }


def test_the_scores_of_other_thresholds_follow_from_stored_answers(
    root: Path, tmp_path: Path
) -> None:
    page = page_of(root, tmp_path)
    assert "GECE 0.800 at 0, 1.000 at 0.2, 1.000 at 0.4," in page
    assert "the gate 0.800 at 0, 0.950 at 0.2," in page


def test_parts_without_results_are_left_out(root: Path, tmp_path: Path) -> None:
    (root / "commands.json").unlink()
    for name in (LEARNED_FROM, GATE, OTHER_GATE, LABELS):
        add_command(root, name, "scaar")
    titles = [line for line in page_of(root, tmp_path).splitlines() if line.startswith("## ")]
    assert titles == ["## What GECE finds"]


async def test_labels_of_other_questions_are_refused(root: Path, tmp_path: Path) -> None:
    for file in (root / LABELS).iterdir():
        file.unlink()
    await keep_labels(root / LABELS, 2000, QUESTIONS[:10])
    with pytest.raises(InvalidRequest, match="labels-2000 and policies have different questions"):
        page_of(root, tmp_path)


async def test_policies_without_a_gate_and_a_run_that_has_not_ended_are_refused(
    tmp_path: Path,
) -> None:
    await keep_run(tmp_path / "plain", SETTINGS[:2])
    with pytest.raises(InvalidRequest, match="must have no_retrieval, and policies without a gate"):
        read_gated(tmp_path / "plain")
    await keep_run(tmp_path / "cut", without=1)
    with pytest.raises(InvalidRequest, match="cut is unfinished: 1 of 60 predictions"):
        read_gated(tmp_path / "cut")


def test_a_gate_file_without_its_origin_is_refused(root: Path, tmp_path: Path) -> None:
    (root / GATE).write_bytes(proxy_to_json(PROXY, learned_from={}))
    with pytest.raises(DataCorrupt, match="gate-gece.json does not say what it was learned from"):
        page_of(root, tmp_path)


def test_a_gate_that_is_not_among_those_of_the_record_is_refused(
    root: Path, tmp_path: Path
) -> None:
    (root / GATE).write_bytes(gate_file(OTHER))
    with pytest.raises(InvalidRequest, match="the gate of the policies is not among the gates"):
        page_of(root, tmp_path)
    counted = replace(OTHER, statistics=WordStatistics("others", {"who": 0.5}, 0.1))
    (root / OTHER_GATE).write_bytes(gate_file(counted))
    with pytest.raises(InvalidRequest, match="must be learned from labels by the same words"):
        page_of(root, tmp_path)


def test_each_step_follows_the_steps_that_it_needs() -> None:
    there: set[str] = set()
    for step in plan():
        command = command_of(step, ".longtail")
        needed = {word.partition(".longtail/")[2] for word in command.split()} - {"", step.name}
        assert needed <= there
        assert f"--out .longtail/{step.name}" in command
        there.add(step.name)


def test_timed_evaluations_run_one_question_at_a_time_without_caches() -> None:
    command = command_of(gated_policies(("no_retrieval", "flare"), limit=5), ".longtail")
    assert command == (
        "SCAAR_ORCHESTRATOR_GATE_FILE=.longtail/gate-gap.json SCAAR_GENERATOR_PREFIX_CACHE_MB=0 "
        "SCAAR_SCORER_CACHE_ENTRIES=0 scaar eval run --dataset lab --seed 2000 --limit 5 "
        "--tail-share 0.2 --policies no_retrieval,flare --gate gece_proxy --concurrency 1 "
        "--out .longtail/policies"
    )
