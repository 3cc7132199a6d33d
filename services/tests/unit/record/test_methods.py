"""Methods at matched budgets and times, on simulated answers."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from record.ceiling import FRONTIERS, ORACLES, costs_table
from record.evaluations import command_of
from record.methods import transfer
from record.methods.comparison import (
    ALWAYS,
    Deployment,
    gates_of,
    gates_table,
    policies_of,
    searches_sentences,
    searches_table,
    times_sentences,
    times_table,
)
from record.methods.page import PARTS
from record.methods.plan import (
    COST,
    SAMPLING_GATES,
    TRANSFER,
    VECTORS,
    plan,
    transfer_kind,
)
from record.plan import SHIPPED, WORLDS
from record.pool import Pool, pool_of
from record.steps import Evaluation
from scaar.core.errors import InvalidRequest, NotFound
from scaar.core.gates import GATES
from scaar.core.policies import PRESETS
from scaar.evaluator.oracles import ORACLES as ORACLE_POLICIES
from scaar.evaluator.records import Setting
from scaar.evaluator.statistics.cost_model import CostModel
from scaar.evaluator.statistics.cost_units import SCORED_SENTENCES, SEARCHES
from scaar.lab.models import LANGUAGE_MODELS

from .test_pool import PLANS, frontiers, results, row, setting

GATED = results(
    {
        setting("no_retrieval"): (0, 0, 0),
        setting("single_round"): (1, 1, 1),
        setting("single_round", gate="targ", gate_threshold=0.5): (0, 1, 0),
        setting("single_round", gate="targ", gate_threshold=0.4): (0, 1, 1),
        setting("single_round", gate="lexsim", gate_threshold=0.5): (1, 0, 0),
    }
)
DENSE = results(
    {
        setting("no_retrieval"): (0, 0, 0),
        setting("single_round"): (1, 1, 1),
        setting("dtr", theta=0.5): (1, 1, 0),
        setting("dtr", theta=0.1): (1, 1, 1),
    }
)
ROUTED = results(
    {
        setting("no_retrieval"): (0, 0, 0),
        setting("single_round"): (1, 1, 1),
        setting("single_round", gate="adaptive_rag"): (0, 1, 2),
    }
)
MODEL = CostModel(
    {
        "llm_calls": 1.0,
        "prompt_tokens": 0.0,
        "generated_tokens": 0.0,
        SEARCHES: 2.0,
        SCORED_SENTENCES: 0.0,
    },
    {},
)


@pytest.fixture(scope="module")
def pool() -> Pool:
    return pool_of(
        {
            FRONTIERS: {"1": frontiers(0.2, 0.4), "2": frontiers(0.3, 0.5)},
            VECTORS: {"1": DENSE, "2": DENSE},
            "gates": {"1": GATED, "2": GATED},
            "adaptive_rag": {"1": ROUTED, "2": ROUTED},
            ORACLES: {"1": PLANS, "2": PLANS},
        }
    )


def test_a_policy_of_one_kind_is_one_row_that_starts_without_retrieval(pool: Pool) -> None:
    names = [each.name for each in policies_of(pool)]
    assert names == [
        ALWAYS,
        "flare",
        "scaar",
        f"{ALWAYS} (vectors)",
        "dtr",
        "adaptive_rag",
        "oracle_budgeted:query=oracle",
    ]
    table = searches_table(pool)
    # Half of the questions with a search each: half of the gain of a search for every question.
    always = row(table, ALWAYS)
    assert always["at_0.5"].value == pytest.approx((1 / 3 + always["at_1"].value) / 2)  # type: ignore[operator]
    assert row(table, "flare")["at_2"].value is None
    assert row(table, "oracle_budgeted:query=oracle")["at_1"].value == 1


def test_gates_are_compared_with_a_random_choice_of_as_many_questions(pool: Pool) -> None:
    assert [each.name for each in gates_of(pool)] == [
        f"{ALWAYS} at random",
        "targ",
        "lexsim",
        "oracle_budgeted:query=oracle",
    ]
    table = gates_table(pool)
    chance, targ, lexsim = (row(table, x) for x in (f"{ALWAYS} at random", "targ", "lexsim"))
    assert chance["difference"].value is None
    for each in (targ, lexsim):
        gain = each["f1"].value - chance["f1"].value  # type: ignore[operator]
        assert each["difference"].value == pytest.approx(gain)
    assert targ["difference"].value > 0 > lexsim["difference"].value  # type: ignore[operator]
    assert targ["llm_calls"].value is not None


def test_times_are_multiples_of_one_search_before_the_answer(pool: Pool) -> None:
    deployment = Deployment(search_ms=10, slowdown=1)
    spent = deployment.spent(MODEL)(pool.means)
    always = pool.system(FRONTIERS, ALWAYS)
    assert always is not None
    calls, searches = (
        pool.means.of(name)[0, always.settings[0]] for name in ("llm_calls", SEARCHES)
    )
    assert spent[0, always.settings[0]] == pytest.approx(calls + 10 * searches)
    table = times_table(pool, MODEL, deployment)
    assert row(table, ALWAYS)["at_1"].value == row(searches_table(pool), ALWAYS)["at_1"].value
    assert row(table, "oracle_budgeted:query=oracle")["at_4"].value == 1
    assert "a search taking 10 ms" in table.title


def test_a_slower_search_makes_the_same_budget_of_time_worth_fewer_searches(pool: Pool) -> None:
    slow, fast = (
        times_table(pool, MODEL, Deployment(search_ms=ms, slowdown=1)) for ms in (1000, 0.001)
    )
    # A model call alone takes half the time of single_round, so that half more is a search more.
    searches = row(searches_table(pool), "scaar")
    assert row(fast, "scaar")["at_1.5"].value == pytest.approx(searches["at_2"].value, abs=1e-3)
    assert row(slow, "scaar")["at_1.5"].value == pytest.approx(searches["at_1.5"].value, abs=1e-3)
    assert float(searches["at_1.5"].value or 0) < float(searches["at_2"].value or 0)


def test_sentences_name_the_highest_policy_and_leave_out_the_oracle(pool: Pool) -> None:
    # By tokens read alone, two searches take exactly twice the time of one.
    model = replace(MODEL, coefficients={**MODEL.coefficients, "llm_calls": 0, "prompt_tokens": 1})
    for line in (*searches_sentences(pool), *times_sentences(pool, model)):
        assert "is highest for" in line
        assert "oracle" not in line


def test_costs_are_those_at_the_budget(pool: Pool) -> None:
    costs = costs_table(pool, policies_of(pool), name="methods_costs")
    assert {str(cells[0].value) for cells in costs.rows} == {"flare", "scaar"}


def test_a_tuned_policy_is_compared_with_the_one_of_the_model_itself() -> None:
    tuned = Setting("tuned", replace(setting("flare", theta=0.4).policy, artefact=SHIPPED))
    kinds = {
        transfer_kind(model, source): {
            "1": results(
                {
                    setting("no_retrieval"): (0, 0, 0),
                    tuned: (0, 1, 2) if model == source else (0, 1, 1),
                }
            )
        }
        for model in LANGUAGE_MODELS
        for source in LANGUAGE_MODELS
    }
    pool = pool_of(kinds)
    first, second, _ = LANGUAGE_MODELS
    assert row(transfer.scores_table(pool), first)[first].value == 1
    missed = row(transfer.scores_table(pool), first)[second].value
    assert missed is not None
    differences = row(transfer.differences_table(pool), first)
    assert differences[first].note == "its own"
    assert differences[second].value == pytest.approx(float(missed) - 1)
    assert row(transfer.searches_table(pool), first)[first].value == 1
    del kinds[transfer_kind(first, second)]
    with pytest.raises(InvalidRequest, match=f"must have {SHIPPED} of {second} with {first}"):
        transfer.scores_table(pool_of(kinds))


def test_results_without_a_search_before_every_answer_are_refused() -> None:
    lacking = pool_of({FRONTIERS: {"1": results({setting("no_retrieval"): (0, 0, 0)})}})
    with pytest.raises(InvalidRequest, match="must have single_round"):
        gates_table(lacking)


def test_every_policy_and_every_gate_is_in_the_plan() -> None:
    steps = plan()
    assert not [name for name, n in Counter(each.name for each in steps).items() if n > 1]
    policies, gates = set(), set()
    for step in steps:
        if step.name.endswith(f"-{WORLDS[0]}") and isinstance(step, Evaluation):
            policies |= {each.policy.name for each in step.settings()}
            gates |= {*step.gates}
    assert policies >= PRESETS.keys() - ORACLE_POLICIES
    # quco is the gate of the policy of that name.
    assert gates == {*GATES} - {"quco"}


def test_every_part_of_the_page_has_results_of_every_world() -> None:
    names = [each.name for each in plan()]
    for part in PARTS:
        prefixes = part.prefixes if isinstance(part.prefixes, tuple) else (part.prefixes,)
        for prefix in prefixes:
            found = [name for name in names if name.startswith(prefix)]
            pairs = len(LANGUAGE_MODELS) ** 2
            assert len(found) == (pairs if prefix == f"{TRANSFER}-" else len(WORLDS)) or (
                found == [COST]
            )


def test_thresholds_are_those_that_were_fitted(tmp_path: Path) -> None:
    for gate in SAMPLING_GATES:
        path = tmp_path / f"{gate}.json"
        path.write_text(json.dumps({"format": 1, "gate": gate, "threshold": 0.125}))
    (step,) = (each for each in plan() if each.name == f"gates-{WORLDS[0]}")
    arguments = step.arguments(str(tmp_path))
    gates = arguments[arguments.index("--gate") + 1].split(",")
    assert gates == [f"{gate}:0.125" for gate in SAMPLING_GATES]
    (tmp_path / "targ.json").unlink()
    with pytest.raises(NotFound, match="targ.json"):
        step.arguments(str(tmp_path))


def test_commands_name_the_settings_of_the_installation() -> None:
    (dense,) = (each for each in plan() if each.name == f"{VECTORS}-{WORLDS[0]}")
    assert command_of(replace(dense, limit=40), ".methods") == (  # type: ignore[type-var]
        "SCAAR_RETRIEVER_INDEXES=.methods/indexes SCAAR_RETRIEVER_ENCODER=.methods/encoder "
        "scaar eval run --dataset lab --seed 2101 --limit 40 "
        "--policies no_retrieval,single_round,dtr,dtr_reference "
        "--set theta=0.0003,0.001,0.003,0.01,0.03,0.1,0.3 --index dense-2101 "
        "--cache-generations --out .methods/vectors-2101"
    )
