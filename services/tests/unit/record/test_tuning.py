"""A tuned policy beside the published ones, on simulated answers."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from record.ceiling import DEPLOYED
from record.evaluations import FinishedEvaluation, command_of
from record.pool import TUNED, Pool, pool_of
from record.steps import Evaluation
from record.tuning.choices import factorial_tables, learning_table, spread_sentences
from record.tuning.comparison import comparison_sentences, comparison_table
from record.tuning.page import PARTS
from record.tuning.plan import (
    CAREFUL_SEEDS,
    CAREFUL_WORLDS,
    CHOICES,
    MODELS,
    WORLDS,
    plan,
)
from record.tuning.risk import risk_sentences, risk_table
from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.policies.artefact_json import artefact_to_json, with_digest
from scaar.core.types import (
    DevelopmentFigures,
    ExpectedCost,
    Interval,
    LabelKind,
    PolicyArtefact,
    PolicyOverrides,
    RiskFigures,
    TuningConditions,
)
from scaar.evaluator.records import Setting

from .test_pool import results, row, setting

PUBLISHED = results(
    {
        setting("no_retrieval"): (0, 0, 0),
        setting("flare"): (0, 1, 0),
        setting("scaar"): (1, 1, 1),
        setting("perplexity"): (0, 1, 2),
    }
)
ARTEFACT = with_digest(
    PolicyArtefact(
        "careful",
        "perplexity",
        PolicyOverrides(theta=1.2),
        TuningConditions("lab-lm"),
        LabelKind.EXACT,
        DevelopmentFigures(1_200, 80, "f1", Interval(0.9, 0.8, 0.95), 0.001),
        ExpectedCost(1.4, 0.5),
    )
)
REPORT = {
    "measure": "f1",
    "questions": 600,
    "outer": {"value": 0.9, "low": 0.8, "high": 0.95, "p": None},
    "outer_searches": {"value": 1.25, "low": 1.2, "high": 1.3, "p": None},
    "candidates": [
        {
            "trigger": trigger,
            "label": label,
            "query": "pfq",
            "mask_below": mask,
            "exclude_seen": excluded,
            "top_k": top_k,
            "quality": {"value": value if mask == 0.8 else 0.0},
            "searches": {"value": 1.25},
        }
        for trigger, label, value in (("flare", None, 0.6), ("learned", "wrong", 0.7))
        for mask in (0.5, 0.8)
        for excluded in ("none", "seen")
        for top_k in (1, 3)
    ],
    "learning_curve": [
        {
            "questions": 25,
            "quality": {"value": 0.8, "low": 0.7, "high": 0.9, "p": None},
            "searches": {"value": 1.3, "low": 1.2, "high": 1.4, "p": None},
            "chosen": ["flare", "flare", "perplexity", "perplexity", "perplexity"],
        }
    ],
}
NAMED = replace(setting("flare", theta=0.4).policy, artefact="tuned-x")
OWN = results(
    {
        setting("flare", theta=0.2, top_k=1): (0, 1, 0),
        setting("flare", theta=0.5, top_k=1): (1, 2, 2),
        Setting("tuned-x", NAMED): (0, 1, 2),
    }
)


@pytest.fixture(scope="module")
def pool() -> Pool:
    return pool_of({DEPLOYED: {"1": PUBLISHED, "2": PUBLISHED}, TUNED: {"1": OWN, "2": OWN}})


def test_a_tuned_policy_is_compared_at_its_searches_and_at_theirs(pool: Pool) -> None:
    table = comparison_table(pool)
    assert row(table, "tuned-x")["f1"].value == 1
    flare = row(table, "flare")
    assert flare["difference"].value == pytest.approx(1 - flare["f1"].value)  # type: ignore[operator]
    # At fewer searches than its own, the tuned policy is the same as flare.
    assert flare["matched"].value == pytest.approx(0)
    assert row(table, "perplexity")["difference"].value == 0
    assert row(table, "no_retrieval")["matched"].value is None


def test_the_verdict_names_the_policies_that_it_is_not_shown_to_equal(pool: Pool) -> None:
    own, matched = comparison_sentences(pool)
    assert own.startswith("tuned-x at its own setting is better than or non-inferior to all 4")
    assert matched.startswith("tuned-x at the searches of the published policy is")
    worse = results({Setting("tuned-x", NAMED): (0, 0, 0), setting("flare", theta=0.2): (0, 0, 0)})
    found = pool_of({DEPLOYED: {"1": PUBLISHED}, TUNED: {"1": worse}})
    assert "not shown to be non-inferior to" in comparison_sentences(found)[0]


def test_results_without_a_tuned_policy_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="must have one tuned policy"):
        comparison_table(pool_of({DEPLOYED: {"1": PUBLISHED}}))


def test_a_controlled_risk_is_that_of_answers_and_what_it_catches_that_of_drafts(
    tmp_path: Path,
) -> None:
    own = results({setting("no_retrieval"): (0, 0, 0), Setting("tuned-x", NAMED): (1, 1, 1)})
    careful = pool_of({"careful": {"1": own, "2": own}})
    table = risk_table(careful)
    values = {cells[0].value: cells[1].value for cells in table.rows}
    # Of three answers, one needs two retrievals and so accepts a wrong draft.
    assert values["answers with a wrong draft accepted unchecked"] == pytest.approx(1 / 3)
    assert values["wrong drafts retrieved for"] == pytest.approx(2 / 3)
    assert values["right drafts retrieved for"] == pytest.approx(1 / 3)
    assert values["wrong drafts whose accepted sentence is right"] == 1
    assert values["searches per question"] == 1
    artefact = tmp_path / "careful.json"
    figures = RiskFigures(0.05, 0.05, 430, 0.03, 0.97, 0.1)
    artefact.write_bytes(artefact_to_json(with_digest(replace(ARTEFACT, risk=figures))))
    chosen, bound = risk_sentences(careful, artefact)
    assert "430 answers" in chosen
    assert "3.0% of the answers" in chosen
    assert "misses 33.3% of 24 wrong drafts" in bound
    artefact.write_bytes(artefact_to_json(with_digest(ARTEFACT)))
    with pytest.raises(InvalidRequest, match="must have a controlled risk"):
        list(risk_sentences(careful, artefact))


def test_candidates_are_compared_at_equal_queries_and_at_equal_triggers() -> None:
    few, many = factorial_tables(REPORT)
    assert (few.title, many.title) == (
        "F1 of every trigger, query and exclusion, top_k 1",
        "F1 of every trigger, query and exclusion, top_k 3",
    )
    names = [cells[0].value for cells in few.rows]
    assert names == ["flare", "searches", "learned:wrong", "searches"]
    assert row(few, "flare")["pfq_seen"].value == pytest.approx(0.6)
    assert row(few, "learned:wrong")["pfq_none"].value == pytest.approx(0.7)
    by_trigger, by_query, *_ = spread_sentences(REPORT)
    assert by_trigger.endswith("learned:wrong 0.700, flare 0.600.")
    assert by_query.endswith("pfq 0.650.")


def test_a_learning_curve_ends_with_all_questions_of_the_other_folds() -> None:
    table = learning_table(REPORT)
    assert [cells[0].value for cells in table.rows] == ["25", "all others of 600"]
    assert row(table, "25")["chosen"].value == "perplexity 3, flare 2"
    assert row(table, "all others of 600")["quality"].value == 0.9


def test_every_model_but_the_first_is_compared_on_every_world() -> None:
    steps = plan()
    assert len({each.name for each in steps}) == len(steps)
    entries = [each for each in steps if isinstance(each, Evaluation) and "/" in each.name]
    assert len(entries) == 2 * len(MODELS) * len(WORLDS)
    assert Counter(each.model for each in entries) == dict.fromkeys(MODELS, 2 * len(WORLDS))
    published = {each.policy.name for each in entries[0].settings()}
    left_out = {"dtr", "dtr_reference", "filco", "model_asks", "quco", "self_rag"}
    assert published == PRESETS.keys() - left_out
    tuned = entries[1].settings()[-1].policy
    assert (tuned.artefact, tuned.overrides.top_k) == ("tuned-1.4", 1)
    assert command_of(entries[1], ".tuning") == (
        "SCAAR_GENERATOR_MODEL=lab-lm-b scaar eval run --dataset lab --seed 4001 --limit 300 "
        "--policies perplexity,tuned-1.4 --set query=current_sentence --set top_k=1 "
        "--set mask_below=0.8 --grid 4 --cache-generations --skip-unserved "
        "--out .tuning/lab-lm-b/tuned-4001"
    )


def test_no_world_of_a_policy_is_one_that_it_was_tuned_on() -> None:
    assert not {*CAREFUL_SEEDS} & {*CAREFUL_WORLDS, *WORLDS}
    steps = {each.name: each for each in plan()}
    assert command_of(steps["careful.json"], ".tuning") == (
        "scaar tune --dataset lab --seed 11 --seed 12 --seed 15 --seed 16 --limit 300 "
        "--catch 0.95 --label wrong --out .tuning/careful.json"
    )
    assert command_of(steps["careful-4007"], ".tuning") == (
        "scaar eval run --dataset lab --seed 4007 --limit 300 --policies no_retrieval "
        "--policy-file .tuning/careful.json --cache-generations "
        "--out .tuning/careful-4007"
    )
    assert command_of(steps[CHOICES], ".tuning") == (
        "scaar tune --dataset lab --seed 4001 --seed 4002 --seed 4003 --limit 300 --budget 1.25 "
        "--label wrong --trigger flare,exp_raw,perplexity,learned "
        "--query current_sentence,pfq,span_masked --learning-curve 25,50,100,200,400 "
        "--work .tuning/answers --report .tuning/choices.json --out .tuning/chosen.json"
    )
    assert steps[CHOICES].limited(40).limit == 40


def test_every_step_belongs_to_one_part_with_commands() -> None:
    finished = [FinishedEvaluation(each.name, Path(each.name), "") for each in plan()]
    parts = [each.among(finished) for each in PARTS]
    shown = [own for part, own in zip(PARTS, parts, strict=True) if part.commands]
    assert sum(map(len, shown)) == len(finished)
    assert [own[0].name for own in parts[2:]] == ["careful.json", CHOICES, CHOICES]
