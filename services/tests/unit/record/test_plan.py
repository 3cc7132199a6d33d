"""The plan is one that can be run, and what it costs is what is asked."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from record.evaluations import command_of
from record.plan import QUESTIONS, STYLES, plan
from record.steps import Evaluation, describe_cost
from scaar.core.policies import PRESETS
from scaar.lab.models import LANGUAGE_MODELS


def test_every_evaluation_has_its_folder_and_command() -> None:
    entries = plan()
    assert not [name for name, count in Counter(each.name for each in entries).items() if count > 1]
    commands = [command_of(each, ".results") for each in entries]
    assert len(set(commands)) == len(commands)


def test_all_policies_are_compared_on_as_many_questions_as_a_report_of_record_has() -> None:
    (policies,) = [each for each in plan() if each.name == "policies"]
    assert {each.policy.name for each in policies.settings()} == PRESETS.keys() - {
        "dtr",
        "dtr_reference",
        "filco",
        "model_asks",
        "quco",
        "self_rag",
    }
    assert (policies.limit, policies.grid) == (QUESTIONS, 6)


def test_each_of_the_lab_models_is_evaluated() -> None:
    for name in LANGUAGE_MODELS:
        assert {f"weighting-{name}", f"models-{name}"} <= {each.name for each in plan()}


def test_the_rate_of_words_of_style_is_swept_from_none() -> None:
    swept = [each for each in plan() if each.name.startswith("style-")]
    assert [each.parameters for each in swept] == [{"style": style} for style in STYLES]
    assert (min(STYLES), max(STYLES)) == (0, 1)


def test_the_command_is_one_to_type() -> None:
    entry = Evaluation(
        name="a", limit=3, policies=("flare", "scaar"), values={"top_k": (1, 2)}, grid=2
    )
    typed = (
        "scaar eval run --dataset lab --seed 2000 --limit 3 --policies flare,scaar "
        "--set top_k=1,2 --grid 2 --cache-generations --skip-unserved --out .results/a"
    )
    assert command_of(entry, ".results") == typed
    other = Evaluation(
        name="a",
        limit=3,
        ablation="alpha",
        model="lab-lm-b",
        parameters={"style": 0.5},
        timed=True,
    )
    assert command_of(other, ".results") == (
        "SCAAR_GENERATOR_MODEL=lab-lm-b scaar eval ablate alpha "
        "--dataset lab --seed 2000 --limit 3 --style 0.5 --concurrency 1 --skip-unserved "
        "--out .results/a"
    )


@pytest.mark.parametrize(
    ("entry", "answers"),
    [
        (Evaluation(name="a", limit=10, policies=("no_retrieval", "flare")), 20),
        # Each at six thetas, and half of the questions drafted once for each trigger.
        (Evaluation(name="a", limit=10, policies=("no_retrieval", "flare", "scaar"), grid=6), 140),
        (Evaluation(name="a", limit=10, ablation="alpha"), 50),
        (Evaluation(name="a", limit=10, ablation="weighting", grid=2), 205),
    ],
)
def test_answers_are_counted(entry: Evaluation, answers: int) -> None:
    assert entry.answers == answers


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=5))
def test_the_total_cost_is_the_sum_of_the_steps(limits: list[int]) -> None:
    entries = [
        Evaluation(name=f"e{at}", limit=limit, ablation="alpha") for at, limit in enumerate(limits)
    ]
    *lines, total = describe_cost(entries).splitlines()
    assert len(lines) == len(entries)
    assert total.startswith(f"{5 * sum(limits)} answers in all: about ")
