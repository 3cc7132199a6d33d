"""The tables of the papers, on simulated answers."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from record.evaluations import command_of
from record.longtail.gated_evaluation import measured
from record.papers import not_run
from record.papers.costs import overhead_table, tokens_table
from record.papers.gece import Method, gece_table, replacements_table
from record.papers.not_run import with_not_run
from record.papers.page import PARTS
from record.papers.plan import (
    DENSE,
    DYNAMIC,
    ENCODERS,
    TIMED,
    TIMING,
    WORLDS,
    main_kind,
    plan,
)
from record.papers.settings import (
    compared_table,
    efficiency_table,
    main_table,
    matches_table,
    rows_of,
)
from record.pool import Pool, pool_of
from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Question
from scaar.evaluator.report.model import Cell, Table
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.database.studies import open_study
from scaar.evaluator.studies.longtail.folder import LABELLING
from scaar.evaluator.studies.longtail.folder import LABELS as LABELS_PART
from scaar.evaluator.studies.longtail.records import Label, Labelling, Parts
from scaar.lab.models import LAB_LM, LANGUAGE_MODELS

from .test_pool import NEEDED, results, row, setting

PAPER = results(
    {
        setting("no_retrieval"): (0, 0, 0),
        setting("flare", theta=0.7): (0, 1, 0),
        setting("flare", theta=0.9): (0, 1, 2),
    }
)
INDEXES = results(
    {
        setting("no_retrieval"): (0, 0, 0),
        setting("flare", theta=0.7): (0, 1, 2),
        setting("flare", theta=0.8): (0, 1, 0),
    }
)
"""Which of the settings stands for which index does not matter for the tables."""


@pytest.fixture(scope="module")
def pool() -> Pool:
    kinds = {main_kind(model): {"1": PAPER} for model in LANGUAGE_MODELS}
    return pool_of({**kinds, DENSE: {"1": INDEXES}, TIMED: {"1": INDEXES_TIMED}})


INDEXES_TIMED = results({setting("no_retrieval"): (0, 0, 0), setting("flare"): (0, 1, 2)})


def test_every_theta_of_every_model_is_in_the_main_table(pool: Pool) -> None:
    table = main_table(pool)
    assert [cells[0].value for cells in table.rows] == [
        *("no_retrieval", "flare:theta=0.7", "flare:theta=0.9")
    ]
    assert len(table.columns) == 1 + 2 * len(LANGUAGE_MODELS)
    last = row(table, "flare:theta=0.9")
    assert last[f"{LAB_LM}_F1"].value == last[f"{LAB_LM}_EM"].value == 1


def test_efficiency_is_the_gain_in_points_per_retrieval(pool: Pool) -> None:
    table = efficiency_table(pool)
    first = row(table, "flare:theta=0.7")
    assert first[f"{LAB_LM}_N_R"].value == pytest.approx(1 / 3)
    # A third of the questions is answered right by a third of a retrieval per question.
    assert first[f"{LAB_LM}_S_eff"].value == pytest.approx(100)
    assert row(table, "flare:theta=0.9")[f"{LAB_LM}_S_eff"].value == pytest.approx(200 / 3)
    assert row(table, "no_retrieval")[f"{LAB_LM}_S_eff"].value is None


def test_the_difference_of_two_settings_is_paired(pool: Pool) -> None:
    at = {each.label: each.at for each in rows_of(pool, DENSE)}
    table = compared_table(
        pool,
        [("flare", at["flare:theta=0.8"], at["flare:theta=0.7"])],
        name="t",
        title="T",
        names=("BM25", "vectors"),
    )
    found = row(table, "flare")
    assert found["f1_0"].value == pytest.approx(2 / 3)
    assert found["f1_1"].value == pytest.approx(1)
    assert found["difference"].value == pytest.approx(1 / 3)
    assert (found["n_r_0"].value, found["n_r_1"].value) == (pytest.approx(1 / 3), 1)


def test_a_table_of_matches_has_precision_and_recall(pool: Pool) -> None:
    rows = rows_of(pool, DENSE)
    table = matches_table(pool, rows, name="t", title="T", called=lambda each: each.label[:5])
    assert [cells[0].value for cells in table.rows] == ["no_re", "flare", "flare"]
    values = row(replace(table, rows=table.rows[:2]), "flare")
    assert {values[name].value for name in ("exact_match", "f1", "precision", "recall")} == {1.0}
    with pytest.raises(InvalidRequest, match="must have evaluations of encoders"):
        rows_of(pool, ENCODERS)


def test_costs_are_those_of_the_timed_answers(pool: Pool) -> None:
    found = row(overhead_table(pool), "flare")
    assert (found["latency_ms"].value, found["ratio"].value) == (10, 1)
    tokens = row(tokens_table(pool), "flare")
    assert (tokens["llm_calls"].value, tokens["prompt_tokens"].value) == (2, 100)


def test_what_is_not_run_is_a_row_with_its_reason(pool: Pool) -> None:
    table = with_not_run(main_table(pool), (not_run.IIRC,))
    name, reason, *others = table.rows[-1]
    assert name.value == "IIRC"
    assert reason.value is None
    assert reason.note.startswith("not run: the lab's models know no English")
    assert all(each == Cell(None) for each in others)


QUESTIONS = PAPER.questions
TAIL = frozenset(each.id for each in QUESTIONS if ("popularity", "tail") in each.labels)
CALLED = frozenset(each.id for each in QUESTIONS if NEEDED[each.id])
"""The questions that GECE calls long-tail: those that the model does not know."""


async def labels(folder: Path) -> Path:
    """A labelling in which answers of one word have the METEOR of one half if they are right."""

    def label(at: int, question: Question) -> Label:
        called = question.id in CALLED
        prediction = "wrong" if called else "right"
        parts = Parts(0.0 if called else 0.5, 0.9 if called else 1.0, 1.0, 1.0)
        rank = sorted(QUESTIONS, key=lambda each: each.id not in CALLED).index(question) + 1
        return Label(
            *(question.id, question.question, question.answers[0], prediction, parts),
            *(0.5, 1.0, 1.0, 1.0, rank, called, rank, rank),
        )

    origin = DatasetOrigin("lab", "", 1, len(QUESTIONS), "c0ffee")
    share = len(CALLED) / len(QUESTIONS)
    settings = Labelling("0", "now", origin, "lm", "", "lab", "dataset", ("w",), share)
    found = [label(at, each) for at, each in enumerate(QUESTIONS)]
    async with open_study(folder, LABELLING, settings, QUESTIONS) as store:
        await store.part(LABELS_PART).add(found)
    return folder


@pytest.fixture
async def labelled(tmp_path: Path) -> Path:
    return await labels(tmp_path / "labels")


def method(*, gated: bool = False) -> Method:
    table = measured(PAPER)
    alone, _, always = table.values
    # The gate lets the first half of the questions retrieve.
    passed = np.array([float(at < len(table.questions) / 2) for at in range(len(table.questions))])
    behind = passed * always + (1 - passed) * alone
    if gated:
        return Method("flare", table, always, alone, behind, passed)
    return Method("flare", table, always, alone)


def rows(table: Table) -> list[dict[str, Cell]]:
    names = [each.name for each in table.columns]
    return [dict(zip(names, cells, strict=True)) for cells in table.rows]


def test_gece_is_compared_with_a_random_choice_of_as_many_questions(labelled: Path) -> None:
    table = gece_table([method(gated=True)], labelled, name="t", title="T")
    without, with_labels, gate = rows(table)
    assert [each["gece"].value for each in (without, with_labels, gate)] == [
        *("without", "with labels", "with the gate")
    ]
    assert without["retrieved"].value == pytest.approx(2 / 3)
    assert without["difference"].value is without["speed"].value is None
    # The labels name every question that the model does not know, so nothing is lost.
    assert with_labels["f1"].value == pytest.approx(1)
    # At random two of three of them would be answered right: 1/3 + 2/3 * 2/3.
    assert with_labels["difference"].value == pytest.approx(1 - 7 / 9)
    assert gate["retrieved"].value == pytest.approx(0.5)
    # Every answer takes 10 ms here.
    assert (gate["speed"].value, gate["random"].value) == (1, 1)


def test_a_method_without_a_gate_has_a_row_for_the_labels(labelled: Path) -> None:
    found = gece_table([method()], labelled, name="t", title="T")
    assert [each["gece"].value for each in rows(found)] == ["without", "with labels"]
    vote = replace(method(), without=method().alone, full=method().without)
    skr = rows(gece_table([vote], labelled, name="t", title="T"))[1]
    assert skr["f1"].value == pytest.approx(1)


def test_questions_without_a_label_are_refused(labelled: Path) -> None:
    own = method()
    table = replace(own.table, questions=(replace(QUESTIONS[0], id="x"), *QUESTIONS[1:]))
    with pytest.raises(InvalidRequest, match="must have every evaluated question, and lack x"):
        gece_table([replace(own, table=table)], labelled, name="t", title="T")


def test_measures_replace_meteor_in_the_labels(labelled: Path) -> None:
    found = rows(replacements_table(labelled))
    assert len(found) == 3 * 2
    meteor, *others = (each for each in found if each["variant"].value == "the gap alone")
    # By METEOR a certain and right answer of one word has a gap of 0.5, by chrF none.
    assert meteor["same"].value == 1
    assert {str(each["measure"].value) for each in others} == {"chrF", "1 - TER"}
    assert all(0 <= float(each["auroc"].value or 0) <= 1 for each in found)


def test_every_step_has_a_name_of_its_own_and_every_part_has_results() -> None:
    names = [each.name for each in plan()]
    assert not [name for name, n in Counter(names).items() if n > 1]
    for part in PARTS:
        prefixes = part.prefixes if isinstance(part.prefixes, tuple) else (part.prefixes,)
        for prefix in prefixes:
            assert [name for name in names if name.startswith(prefix)], prefix


def test_commands_are_those_of_one_evaluation() -> None:
    steps = {each.name: each for each in plan()}
    assert command_of(steps[f"{TIMING}-{WORLDS[0]}"].limited(40), ".papers") == (
        "scaar eval run --dataset lab --seed 5101 --limit 40 --policies no_retrieval,"
        f"{','.join(DYNAMIC)} --set query=last_sentence --cache-generations "
        f"--out .papers/timing-{WORLDS[0]}"
    )
    timed = command_of(steps[f"{TIMED}-{WORLDS[0]}"], ".papers")
    assert timed.startswith("SCAAR_GENERATOR_PREFIX_CACHE_MB=0 SCAAR_SCORER_CACHE_ENTRIES=0 scaar")
    assert timed.endswith(f"--concurrency 1 --out .papers/timed-{WORLDS[0]}")
    gated = command_of(steps["gated"], ".papers")
    assert "--tail-share 0.2" in gated
    assert "SCAAR_ORCHESTRATOR_GATE_FILE=.papers/gate-gap.json" in gated
