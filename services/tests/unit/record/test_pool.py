"""Pools of worlds in which a question is answered right after as many retrievals as it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from record.ceiling import (
    CEILING,
    DEPLOYED,
    FRONTIERS,
    ORACLES,
    detections_table,
    differences_table,
    distance_table,
    frontier_figure,
    matched_sentences,
    matched_table,
    points_table,
    reference_score,
    worlds_costs,
)
from record.cost_model import coefficients_table, latency_table, least_time, winners_table
from record.factorial import effects_table, factorial_table
from record.pool import TUNED, Pool, pool_of
from scaar.core.errors import InvalidRequest
from scaar.core.types import JudgedWord, Query, Usage
from scaar.evaluator.oracles import ORACLE, PLANNED, oracle_parts, plan_of
from scaar.evaluator.records import Decision, Prediction, Question, Score, Setting
from scaar.evaluator.report.model import Cell, Table
from scaar.evaluator.results import Results
from scaar.evaluator.statistics.cost_model import fit
from scaar.evaluator.statistics.estimate import estimate
from scaar.evaluator.statistics.table import TableBuilder

from ..evaluator.simulated import evaluation_of, setting

QUESTIONS = tuple(
    Question(
        f"q{n}",
        "Who?",
        ("right",),
        f"film {n // 2}",
        labels=(("popularity", "tail" if n % 2 else "head"),),
    )
    for n in range(12)
)
NEEDED = {each.id: n % 3 for n, each in enumerate(QUESTIONS)}
WORD = JudgedWord("right", 0, 5, 0.5, 0.8, uncertain=True, contribution=0.5)


def prediction(setting: Setting, question: Question, retrievals: int) -> Prediction:
    needed = NEEDED[question.id]
    answer = "right" if retrievals >= needed else "wrong"
    usage = Usage(retrievals, 1 + retrievals, 30, 100 * retrievals, 10.0)
    decisions = tuple(
        Decision(
            answer,
            "draft",
            (WORD,),
            score=0.2 if at < needed else 0.9,
            trigger=0 if at < retrievals else None,
            query=Query("draft", "question") if at < retrievals else None,
            draft_right=at >= needed,
            right=True,
        )
        for at in range(2)
    )
    return Prediction(setting.label, question.id, answer, answer, usage, decisions=decisions)


@oracle_parts()
def results(settings: Mapping[Setting, Sequence[int]]) -> Results:
    """Results by the retrievals of each setting for questions that need 0, 1 and 2 of them."""
    return Results(
        evaluation_of(QUESTIONS, tuple(settings)),
        QUESTIONS,
        tuple(
            prediction(each, question, retrievals[NEEDED[question.id]])
            for each, retrievals in settings.items()
            for question in QUESTIONS
        ),
    )


def frontiers(first: float, second: float) -> Results:
    return results(
        {
            setting("no_retrieval"): (0, 0, 0),
            setting("single_round"): (1, 1, 1),
            setting("flare", theta=first): (0, 1, 0),
            setting("flare", theta=second): (1, 1, 2),
            setting("scaar", theta=first): (0, 0, 0),
            setting("scaar", theta=second): (2, 2, 2),
        }
    )


DEPLOYMENT = results({setting("no_retrieval"): (0, 0, 0), setting("flare"): (0, 1, 2)})
PLANS = results(
    {
        setting(PLANNED, query=ORACLE, theta=plan_of({*range(count)})): (count,) * 3
        for count in range(3)
    }
)
KINDS = {
    FRONTIERS: {"1": frontiers(0.2, 0.4), "2": frontiers(0.3, 0.5)},
    DEPLOYED: {"1": DEPLOYMENT, "2": DEPLOYMENT},
    ORACLES: {"1": PLANS, "2": PLANS},
}


@pytest.fixture(scope="module")
def pool() -> Pool:
    return pool_of(KINDS)


def test_a_tuned_policy_is_a_point_and_its_other_thetas_are_a_frontier() -> None:
    named = replace(setting("flare", theta=0.4).policy, artefact="tuned-x")
    tuned = results(
        {
            setting("flare", theta=0.2, top_k=1): (0, 1, 0),
            setting("flare", theta=0.5, top_k=1): (0, 1, 2),
            Setting("tuned-x", named): (0, 1, 2),
        }
    )
    made = pool_of({**KINDS, TUNED: {"1": tuned, "2": tuned}})
    found = [(each.name, len(each.settings)) for each in made.systems if each.kind == TUNED]
    assert found == [("tuned-x at any theta", 2), ("tuned-x", 1)]
    deployed = row(points_table(made), "tuned-x")
    assert deployed["f1"].value == 1
    assert deployed["retrievals"].value == 1
    assert row(matched_table(made), "tuned-x at any theta")["at_1"].value == pytest.approx(1)
    assert "highest for tuned-x at any theta: 1.000" in matched_sentences(made)[0]


def at(pool: Pool, kind: str, name: str, budget: float, column: str = "f1") -> float | None:
    system = pool.system(kind, name)
    assert system is not None
    return estimate(pool.at(system, budget, column)).value


def row(table: Table, name: str) -> dict[str, Cell]:
    (cells,) = (cells for cells in table.rows if cells[0].value == name)
    return {column.name: cell for column, cell in zip(table.columns, cells, strict=True)}


def test_the_questions_of_all_worlds_count_and_known_films_are_one_entity(pool: Pool) -> None:
    assert len(pool.table.questions) == 2 * len(QUESTIONS)
    entities = {each.entity for each in pool.table.questions}
    assert len(entities) == 6 + 2 * 6
    assert [(each.kind, each.name, len(each.settings)) for each in pool.systems] == [
        (FRONTIERS, "no_retrieval", 1),
        (FRONTIERS, "single_round", 1),
        (FRONTIERS, "flare", 2),
        (FRONTIERS, "scaar", 2),
        (DEPLOYED, "no_retrieval", 1),
        (DEPLOYED, "flare", 1),
        (ORACLES, CEILING, 3),
        (ORACLES, "oracle_benefit:query=oracle", 1),
    ]


def test_scores_and_costs_are_interpolated_at_a_budget(pool: Pool) -> None:
    assert at(pool, FRONTIERS, "flare", 1 / 3) == pytest.approx(2 / 3)
    assert at(pool, FRONTIERS, "flare", 4 / 3) == pytest.approx(1.0)
    assert at(pool, FRONTIERS, "flare", 5 / 6) == pytest.approx(5 / 6)
    assert at(pool, FRONTIERS, "flare", 5 / 6, "llm_calls") == pytest.approx(11 / 6)
    assert at(pool, FRONTIERS, "flare", 1.5) is None
    assert at(pool, FRONTIERS, "single_round", 1.0) == pytest.approx(2 / 3)


def test_the_budgeted_oracle_makes_the_best_retrievals_first(pool: Pool) -> None:
    assert at(pool, ORACLES, CEILING, 0.0) == pytest.approx(1 / 3)
    # One retrieval answers a question of the first third, two answer one of the other third.
    assert at(pool, ORACLES, CEILING, 1 / 3) == pytest.approx(2 / 3)
    assert at(pool, ORACLES, CEILING, 2 / 3) == pytest.approx(2 / 3 + 1 / 6)
    assert at(pool, ORACLES, CEILING, 1.0) == pytest.approx(1.0)
    assert at(pool, ORACLES, CEILING, 2.0) == pytest.approx(1.0)
    assert at(pool, ORACLES, CEILING, 2.0, "retrievals") == pytest.approx(1.0)


def test_the_distance_is_a_share_of_that_from_no_retrieval_to_the_ceiling(pool: Pool) -> None:
    table = distance_table(pool)
    assert table is not None
    assert row(table, "flare")["at_1"].value == pytest.approx(5 / 6)
    assert row(table, "single_round")["at_1"].value == pytest.approx(0.5)
    assert row(table, "scaar")["at_2"].value == pytest.approx(1.0)
    assert CEILING not in {cells[0].value for cells in table.rows}


def test_tables_show_policies_and_oracles(pool: Pool) -> None:
    assert {cells[0].value for cells in matched_table(pool).rows} == {
        *("single_round", "flare", "scaar", CEILING)
    }
    points = points_table(pool)
    assert row(points, "flare")["f1"].value == pytest.approx(1.0)
    assert row(points, "flare")["gain"].value == pytest.approx(2 / 3)
    assert row(points, "flare")["scored_sentences"].value == pytest.approx(2.0)
    assert row(points, "oracle_benefit:query=oracle")["retrievals"].value == pytest.approx(1.0)
    assert row(worlds_costs(pool), "scaar")["llm_calls"].value == pytest.approx(2.25)
    differences = differences_table(pool)
    assert differences is not None
    budgets = [cells[1].value for cells in differences.rows if cells[0].value == "flare"]
    assert budgets == [0.75, 1.0, 1.25]
    assert reference_score(pool) == pytest.approx(1 / 3 + 1.25 / 2 * 2 / 3)
    assert "flare" in matched_sentences(pool)[1]
    figure = frontier_figure(pool)
    assert [each.name for each in figure.series] == ["single_round", "flare", "scaar", CEILING]


def test_detection_is_that_of_the_deployed_policies(pool: Pool) -> None:
    table = detections_table(pool)
    assert [(cells[0].value, cells[1].value) for cells in table.rows] == [
        ("flare", group) for group in ("all", "head", "tail")
    ]
    assert row(replace(table, rows=table.rows[:1]), "flare")["auroc"].value == 1.0


def test_worlds_with_other_settings_or_other_questions_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="frontiers have other settings in another world"):
        pool_of({FRONTIERS: {"1": frontiers(0.2, 0.4), "2": DEPLOYMENT}})
    with pytest.raises(InvalidRequest, match="lack an evaluation of a world: 1, 2"):
        pool_of({**KINDS, DEPLOYED: {"1": DEPLOYMENT}})
    others = replace(DEPLOYMENT, questions=tuple(replace(q, id=f"x{q.id}") for q in QUESTIONS))
    with pytest.raises(InvalidRequest, match="of world 1 have no question in common"):
        pool_of({FRONTIERS: {"1": frontiers(0.2, 0.4)}, DEPLOYED: {"1": others}})


def test_a_factorial_has_a_cell_for_every_combination() -> None:
    cells = {
        setting(name, theta=theta, query=query, exclude_seen=excluded): (count,) * 3
        for name in ("flare", "perplexity")
        for query in ("current_sentence", "pfq")
        for excluded in ("none", "seen")
        for theta, count in ((1.0, 1), (1.0 if name == "flare" else 2.0, 2))
        if not (name == "flare" and count == 1)
    }
    extra = {
        setting("flare", theta=0.5, query=query, exclude_seen=excluded): (0, 1, 1)
        for query in ("current_sentence", "pfq")
        for excluded in ("none", "seen")
    }
    made = pool_of({"factorial": {"1": results({**cells, **extra})}})
    table = factorial_table(made)
    assert [column.title for column in table.columns[1:]] == [
        *("current_sentence", "current_sentence, excluding", "pfq", "pfq, excluding")
    ]
    assert [cells[0].value for cells in table.rows] == ["flare", "perplexity"]
    assert all(cell.value is not None for cells in table.rows for cell in cells)
    effects = effects_table(made)
    assert len(effects.rows) == 2 * 4
    assert {cell.value for cells in effects.rows for cell in cells[3:]} <= {0.0, None}


def timed(coefficients: Mapping[str, float]) -> TableBuilder:
    settings = (setting("flare"), setting("scaar"))
    builder = TableBuilder(QUESTIONS, settings)
    chance = np.random.default_rng(0)
    for each in settings:
        for question in QUESTIONS:
            calls, read, written, searches = map(int, chance.integers(1, 50, 4))
            usage = Usage(
                *(searches, calls, written, read, 20.0),
                generation_ms=(
                    coefficients["llm_calls"] * calls
                    + coefficients["prompt_tokens"] * read
                    + coefficients["generated_tokens"] * written
                ),
                scoring_ms=coefficients["scored_sentences"] * (each.policy.name == "scaar"),
                retrieval_ms=coefficients["searches"] * searches,
            )
            builder.add_score(Score(each.label, question.id, {"f1": 1.0}, usage))
            scored = (Decision("", "", (WORD,)),) if each.policy.name == "scaar" else ()
            builder.add_prediction(
                Prediction(each.label, question.id, "", "", usage, decisions=scored)
            )
    return builder


COEFFICIENTS = {
    "llm_calls": 5.0,
    "prompt_tokens": 0.1,
    "generated_tokens": 2.0,
    "searches": 3.0,
    "scored_sentences": 7.0,
}


def test_the_cost_model_finds_the_time_of_every_unit() -> None:
    table = timed(COEFFICIENTS).build()
    model = fit(table.column)
    assert model.coefficients == pytest.approx(COEFFICIENTS)
    assert all(share == pytest.approx(1.0) for share in model.explained.values())
    assert row(coefficients_table(model), "search")["ms"].value == pytest.approx(3.0)
    assert row(latency_table(table), "flare")["p95"].value == 20.0
    slower = model.times(search_ms=100, slowdown=4)
    assert (slower["searches"], slower["prompt_tokens"]) == (100, pytest.approx(0.4))
    assert slower["scored_sentences"] == pytest.approx(7.0)


def test_no_unit_takes_a_negative_time() -> None:
    model = fit(timed({**COEFFICIENTS, "prompt_tokens": -1.0}).build().column)
    assert all(value >= 0 for value in model.coefficients.values())
    assert model.coefficients["prompt_tokens"] == 0.0


def test_the_policy_with_the_least_time_at_a_score_wins(pool: Pool) -> None:
    model = fit(timed(COEFFICIENTS).build().column)
    table = winners_table(pool, model, 0.75)
    assert all(str(cell.value).startswith("flare ") for cells in table.rows for cell in cells[1:])
    assert winners_table(pool, model, 1.01).rows[0][1].note == "not reached"


def test_a_score_between_two_settings_is_reached_by_a_mixture() -> None:
    times, scores = np.array([10.0, 20.0, 100.0]), np.array([0.5, 0.7, 0.9])
    assert least_time(times, scores, 0.6) == pytest.approx(15.0)
    assert least_time(times, scores, 0.8) == pytest.approx(55.0 + 5.0)
    assert least_time(times, scores, 0.5) == 10.0
    assert least_time(times, scores, 0.95) is None
