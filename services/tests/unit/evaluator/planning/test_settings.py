import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import check_policy
from scaar.core.triggers import TRIGGERS
from scaar.core.types import PolicyOverrides
from scaar.evaluator.planning.ablations import ABLATIONS, plan_ablation
from scaar.evaluator.planning.settings import (
    Values,
    check_no_values,
    default_policies,
    plan_settings,
)
from scaar.evaluator.records import Setting

VALUES = st.fixed_dictionaries(
    {},
    optional={
        "theta": st.lists(st.sampled_from([0.1, 0.5, 0.8]), min_size=1, unique=True),
        "alpha": st.lists(st.sampled_from([25.0, 50.0]), min_size=1, unique=True),
        "top_k": st.lists(st.sampled_from([1, 3]), min_size=1, unique=True),
        "trigger": st.lists(st.sampled_from(list(TRIGGERS)), min_size=1, unique=True),
        "theta_cap": st.lists(st.sampled_from([0.9, 1.0]), min_size=1, unique=True),
        "window_tokens": st.lists(st.sampled_from([8, 16]), min_size=1, unique=True),
    },
)


def labels(policies: tuple[str, ...], **values: tuple[float | str, ...]) -> list[str]:
    return [setting.label for setting in plan_settings(policies, values)]


def refused(policies: tuple[str, ...], **values: tuple[float | str, ...]) -> list[str]:
    with pytest.raises(InvalidRequest) as error:
        plan_settings(policies, values)
    return [str(violation) for violation in error.value.violations]


def test_a_value_beside_tuned_policies_alone_is_refused() -> None:
    check_no_values({}, ["tuned-1.4"])
    with pytest.raises(InvalidRequest) as error:
        check_no_values({"theta": (0.5,), "query": ("pfq",)}, ["tuned-1.4"])
    assert [str(violation) for violation in error.value.violations] == [
        "theta: 0.5 has no effect on tuned-1.4",
        "query: pfq has no effect on tuned-1.4",
    ]


def test_each_policy_takes_only_the_values_that_mean_something_to_it() -> None:
    found = labels(
        ("no_retrieval", "single_round", "flare", "scaar"),
        theta=(0.7, 0.8),
        alpha=(25.0, 50.0),
        top_k=(3,),
    )
    assert found == [
        "no_retrieval",
        "single_round:top_k=3",
        "flare:theta=0.7,top_k=3",
        "flare:theta=0.8,top_k=3",
        "scaar:theta=0.7,alpha=25,top_k=3",
        "scaar:theta=0.7,alpha=50,top_k=3",
        "scaar:theta=0.8,alpha=25,top_k=3",
        "scaar:theta=0.8,alpha=50,top_k=3",
    ]


def test_a_value_without_effect_is_left_out() -> None:
    found = labels(("scaar",), trigger=("flare", "exp_raw"), theta_cap=(0.9,))
    assert found == ["scaar:trigger=flare", "scaar:theta_cap=0.9,trigger=exp_raw"]


def test_a_value_that_one_policy_cannot_take_is_another_ones() -> None:
    assert labels(("flare", "ircot"), query=("pfq", "question")) == [
        "flare:query=pfq",
        "flare:query=question",
        "ircot:query=question",
    ]
    assert labels(("flare", "ircot"), query=("pfq",)) == ["flare:query=pfq", "ircot"]


@given(st.lists(st.sampled_from(list(PRESETS)), min_size=1, unique=True), VALUES)
def test_all_that_is_given_is_used_or_refused_by_name(policies: list[str], values: Values) -> None:
    wrong: set[str] = set()
    settings: tuple[Setting, ...] = ()
    try:
        settings = plan_settings(policies, values)
    except InvalidRequest as error:
        wrong = {each.field for each in error.violations}
    assert bool(settings) != bool(wrong)
    assert wrong <= {*values, "policies"}
    if wrong:
        return
    assert len({each.label for each in settings}) == len(settings)
    assert [
        name for name in policies if name in {each.policy.name for each in settings}
    ] == policies
    assert not any(check_policy(each.policy) for each in settings)
    for name, given_values in values.items():
        used = {getattr(each.policy.overrides, name) for each in settings} - {None}
        assert used == set(given_values)


def test_unknown_and_repeated_policies_are_refused() -> None:
    assert refused(("flare", "maybe", "flare")) == [
        f"policies: there is no policy 'maybe'; known: {', '.join(PRESETS)}",
        "policies: flare is named twice",
    ]
    assert refused(()) == ["policies: must name at least one"]


def test_a_value_that_no_policy_can_use_is_refused_by_name() -> None:
    assert refused(("no_retrieval", "flare"), theta=(0.7,), alpha=(25.0, 50.0)) == [
        "alpha: 25 has no effect on no_retrieval or flare",
        "alpha: 50 has no effect on no_retrieval or flare",
    ]


def test_a_value_out_of_its_range_or_given_twice_is_refused() -> None:
    assert refused(("scaar",), theta=(0.5, 1.5)) == [
        "theta: must be in (0, 1] for policy scaar, not 1.5"
    ]
    assert refused(("scaar",), theta=(0.5, 0.50)) == ["theta: 0.5 is given twice"]


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_varies_its_settings_and_leaves_the_others(name: str) -> None:
    ablation = ABLATIONS[name]
    settings = plan_settings(ablation.policies, ablation.values)
    varied = ablation.values
    assert len(settings) == len(ablation.policies) * math.prod(map(len, varied.values()))
    for setting in settings:
        others = {
            field: getattr(setting.policy.overrides, field)
            for field in PolicyOverrides.__slots__
            if field not in varied
        }
        assert set(others.values()) == {None}


def test_the_ablation_of_the_scorer_has_every_control() -> None:
    assert [each.label for each in plan_ablation("scorer", {})] == [
        "no_retrieval",
        "scaar",
        "scaar:scorer=permuted",
        "scaar:scorer=constant",
        "scaar:scorer=idf",
        "flare",
        "flare:spare_stop_words=true",
        "flare:include_question=true",
    ]


def test_fixed_values_apply_to_baselines_unless_they_would_change_the_policy() -> None:
    held: Values = {"trigger": ("surprisal",), "theta": (0.2, 0.3), "alpha": (75.0,)}
    found = plan_ablation("scorer", held)
    assert [each.label for each in found[:3]] == [
        "no_retrieval",
        "scaar:theta=0.2,trigger=surprisal,alpha=75",
        "scaar:theta=0.2,trigger=surprisal,alpha=75,scorer=permuted",
    ]
    assert [each.label for each in found[9:]] == [
        *("flare:theta=0.2", "flare:theta=0.3"),
        *("flare:theta=0.2,spare_stop_words=true", "flare:theta=0.3,spare_stop_words=true"),
        *("flare:theta=0.2,include_question=true", "flare:theta=0.3,include_question=true"),
    ]
    assert not any(check_policy(each.policy) for each in found)


@pytest.mark.parametrize(
    ("name", "held", "message"),
    [
        ("colour", {}, "ablation: there is no ablation 'colour'; known: threshold, "),
        ("alpha", {"alpha": (10.0,)}, "alpha: is varied by the ablation alpha"),
        (
            "scorer",
            {"include_question": (True,)},
            "include_question: is varied by",
        ),
        ("scorer", {"trigger": ("flare",), "query": ("question",)}, "none uses a scorer"),
    ],
)
def test_an_invalid_or_contradicted_ablation_is_refused(
    name: str, held: Values, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        plan_ablation(name, held)


def test_a_policy_that_needs_corpus_counts_is_evaluated_only_by_its_name() -> None:
    assert "quco" in PRESETS
    assert "quco" not in default_policies()
