import enum
import typing
from dataclasses import asdict, fields, replace
from itertools import product
from typing import Any

import pytest

from scaar.cli.ask.overrides import parse_overrides
from scaar.cli.completion import complete_setting
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import check_policy, combination_of
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.preset import Preset
from scaar.core.policies.requirements import capabilities
from scaar.core.policies.settings import (
    RECOMMENDED,
    SETTING_ROWS,
    SETTINGS,
    Origin,
    PolicySetting,
    adjustable,
    idle,
)
from scaar.core.queries import FORMULATIONS
from scaar.core.registry import ExtensionInvalid
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    Capability,
    Granularity,
    LogprobKind,
    ModelDescription,
    Moment,
    PolicyOverrides,
    PolicyRequest,
    RecommendedSettings,
    SettingSource,
)
from scaar.testing.artefacts import LEARNED
from scaar.v1 import generator_pb2, policy_pb2


def model(*recommended: RecommendedSettings) -> ModelDescription:
    return ModelDescription(
        model="m",
        revision="r",
        engine="fake",
        logprob_kind=LogprobKind.RAW,
        capabilities=frozenset({Capability.LOGPROBS}),
        max_total_tokens=2048,
        prompt_profile="scaar",
        recommended=recommended,
    )


def wrong_fields(request: PolicyRequest) -> list[str]:
    return [violation.field for violation in check_policy(request)]


def test_the_defaults_say_whether_the_paper_or_the_project_chose_them() -> None:
    policy = effective_policy(PolicyRequest("scaar"), model())
    assert (policy.theta, policy.theta_cap, policy.top_k) == (0.8, 1.0, 3)
    assert policy.trigger == "exp_raw"
    assert policy.query.formulation == "pfq"
    assert (policy.query.alpha, policy.query.include_question) == (50.0, True)
    assert {name for name, source in policy.sources if source is SettingSource.DEFAULT} == {
        "alpha",
        "word_order",
        "judge_conclusion",
    }
    assert set(dict(policy.sources).values()) == {SettingSource.PAPER, SettingSource.DEFAULT}


@pytest.mark.parametrize(
    ("policy", "setting"),
    [
        ("dragin", "truncate"),
        ("fixed_length", "window_tokens"),
        ("ircot", "max_passages"),
        ("etc", "theta"),
        ("mean_entropy", "theta"),
        ("perplexity", "theta"),
    ],
)
def test_a_default_that_no_paper_states_is_the_projects(policy: str, setting: str) -> None:
    sources = dict(effective_policy(PolicyRequest(policy), model()).sources)
    assert sources[setting] is SettingSource.DEFAULT
    assert sources["top_k"] is SettingSource.PAPER


@pytest.mark.parametrize("profile", ["lab", "lab@1", "lab_chat", "lab_search@1"])
def test_the_conclusions_of_a_model_that_was_trained_to_conclude_are_not_judged(
    profile: str,
) -> None:
    trained = replace(model(), prompt_profile=profile)
    requested = PolicyRequest("scaar", PolicyOverrides(judge_conclusion=True))
    policy = effective_policy(PolicyRequest("scaar"), trained)
    assert not policy.judge_conclusion
    assert dict(policy.sources)["judge_conclusion"] is SettingSource.MODEL
    assert effective_policy(requested, trained).judge_conclusion


@pytest.mark.parametrize("policy", PRESETS)
def test_every_default_has_an_origin(policy: str) -> None:
    origins = {SettingSource.PAPER, SettingSource.DEFAULT}
    for trigger, query in product([None, *TRIGGERS], [None, *FORMULATIONS]):
        request = PolicyRequest(policy, PolicyOverrides(trigger=trigger, query=query))
        if check_policy(request):
            continue
        sources = dict(effective_policy(request, model()).sources)
        requested = {"trigger"} if trigger else set()
        requested |= {"query"} if query else set()
        assert {name for name, each in sources.items() if each not in origins} == requested


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_origin_of_a_setting_is_reached(setting: str) -> None:
    """No origin follows one that already matches all that it names."""
    origins = SETTINGS[setting].origins
    for at, origin in enumerate(origins):
        before = [_named(each) for each in origins[:at]]
        assert all(before), origin
        assert not set().union(*before) & _named(origin), origin


def _named(origin: Origin) -> set[str]:
    return {*origin.policies, *origin.triggers, *origin.queries}


def test_a_setting_is_a_row_of_the_table_a_field_and_a_field_of_the_contract() -> None:
    rows = [each.name for each in SETTING_ROWS]
    assert sorted(rows) == sorted(each.name for each in fields(PolicyOverrides))
    assert sorted(rows) == sorted(policy_pb2.PolicyOverrides.DESCRIPTOR.fields_by_name)
    kinds = typing.get_type_hints(PolicyOverrides)
    assert {each.name: each.kind | None for each in SETTING_ROWS} == kinds
    recommended = {"policy", *RECOMMENDED}
    assert recommended == {each.name for each in fields(RecommendedSettings)}
    assert recommended == set(generator_pb2.RecommendedSettings.DESCRIPTOR.fields_by_name)


@pytest.mark.parametrize("setting", SETTING_ROWS, ids=lambda each: each.name)
def test_a_row_and_a_field_are_all_that_a_setting_needs(setting: PolicySetting) -> None:
    """A value of the command line takes effect, with its source, in a policy that accepts it."""
    (preset, *_) = (each for each in PRESETS.values() if setting.accepted_by(each))
    values = setting.registry or (setting.kind if issubclass(setting.kind, enum.StrEnum) else "1")
    text = str(next(iter(values)))
    needed = {
        "trigger": setting.triggers,
        "query": setting.queries,
        "gate": setting.gates,
        "attention_span": setting.spans,
        "rerank": setting.reranks,
    }
    given = [f"{name}={next(iter(each))}" for name, each in needed.items() if each]
    assert f"{setting.name}=" in dict(complete_setting(setting.name))
    overrides = parse_overrides([*given, f"{setting.name}={text}"])
    policy = effective_policy(PolicyRequest(preset.name, overrides), model())
    assert dict(policy.sources)[setting.name] is SettingSource.REQUEST
    found = {**asdict(policy), **asdict(policy.query), "query": policy.query.formulation}
    assert found[setting.name] == getattr(overrides, setting.name) == setting.kind(text)


def test_the_presets_of_the_contract_have_the_settings_that_their_policies_accept() -> None:
    presets = policy_pb2.Policy.DESCRIPTOR.oneofs_by_name["preset"].fields
    for each in (each for each in presets if each.message_type is not None):
        given = set(each.message_type.fields_by_name)
        assert given <= adjustable(PRESETS[each.name]), each.name


def test_a_default_is_valid_wherever_the_setting_has_an_effect() -> None:
    for name, preset in PRESETS.items():
        given = combination_of(preset, PolicyOverrides())
        for setting in adjustable(preset) - idle(given).keys():
            default = SETTINGS[setting].default(preset, given)
            limit = SETTINGS[setting].limit
            assert limit is None or default is None or limit.holds(default), (name, setting)


def test_flare_has_one_threshold_and_queries_with_the_draft() -> None:
    policy = effective_policy(PolicyRequest("flare"), model())
    assert policy.trigger == "flare"
    assert policy.query.formulation == "current_sentence"
    assert not policy.query.include_question


def test_a_request_comes_before_the_model_and_the_model_before_the_paper() -> None:
    request = PolicyRequest("scaar", PolicyOverrides(alpha=25.0))
    policy = effective_policy(request, model(RecommendedSettings("scaar", theta=0.2, alpha=75.0)))
    assert (policy.theta, policy.query.alpha, policy.top_k) == (0.2, 25.0, 3)
    sources = dict(policy.sources)
    assert sources["theta"] is SettingSource.MODEL
    assert sources["alpha"] is SettingSource.REQUEST
    assert sources["top_k"] is SettingSource.PAPER


def test_recommendations_are_for_the_policy_they_name() -> None:
    for_another = RecommendedSettings("scaar", theta=0.2)
    policy = effective_policy(PolicyRequest("flare"), model(for_another))
    assert policy.theta == 0.8


def test_any_trigger_combines_with_any_query() -> None:
    request = PolicyRequest("flare", PolicyOverrides(query="pfq", alpha=30.0))
    policy = effective_policy(request, model())
    assert policy.trigger == "flare"
    assert policy.query.formulation == "pfq"
    assert policy.query.include_question, "PFQ includes the question by default"


def test_only_settings_that_mean_something_have_a_source() -> None:
    sources = dict(effective_policy(PolicyRequest("flare"), model()).sources)
    assert "theta" in sources
    assert not {"alpha", "word_order", "theta_cap", "last_n_tokens"} & set(sources)
    assert effective_policy(PolicyRequest("no_retrieval"), model()).sources == ()


@pytest.mark.parametrize(
    ("policy", "overrides", "field"),
    [
        ("scaar", PolicyOverrides(theta=0.0), "policy.theta"),
        ("scaar", PolicyOverrides(theta=1.01), "policy.theta"),
        ("flare", PolicyOverrides(theta=float("nan")), "policy.theta"),
        ("scaar", PolicyOverrides(theta_cap=0.0), "policy.theta_cap"),
        ("scaar", PolicyOverrides(alpha=0.0), "policy.alpha"),
        ("scaar", PolicyOverrides(alpha=100.5), "policy.alpha"),
        ("scaar", PolicyOverrides(top_k=0), "policy.top_k"),
        ("single_round", PolicyOverrides(top_k=101), "policy.top_k"),
        ("no_retrieval", PolicyOverrides(theta=0.5), "policy.theta"),
        ("single_round", PolicyOverrides(alpha=50.0), "policy.alpha"),
        ("flare", PolicyOverrides(alpha=50.0), "policy.alpha"),
        ("flare", PolicyOverrides(theta_cap=0.9), "policy.theta_cap"),
        ("scaar", PolicyOverrides(last_n_tokens=5), "policy.last_n_tokens"),
        ("nonsense", PolicyOverrides(), "policy.name"),
    ],
)
def test_a_wrong_override_is_refused_by_name(
    policy: str, overrides: PolicyOverrides, field: str
) -> None:
    assert wrong_fields(PolicyRequest(policy, overrides)) == [field]


def test_every_wrong_field_is_named_together() -> None:
    request = PolicyRequest("scaar", PolicyOverrides(theta=2.0, alpha=-1.0, top_k=0))
    assert wrong_fields(request) == ["policy.theta", "policy.alpha", "policy.top_k"]


def test_the_range_is_in_the_message() -> None:
    (wrong,) = check_policy(PolicyRequest("flare", PolicyOverrides(theta=2.0)))
    assert wrong.description == "must be in (0, 1] for policy flare, not 2"


def test_the_edges_of_the_ranges_are_allowed() -> None:
    for overrides in (
        PolicyOverrides(theta=1.0, alpha=100.0, top_k=100),
        PolicyOverrides(theta=1e-9, alpha=1e-9, top_k=1),
    ):
        assert wrong_fields(PolicyRequest("scaar", overrides)) == []


WHITE_BOX = {Capability.ENTROPY, Capability.ATTENTION}


@pytest.mark.parametrize(
    ("policy", "needed"),
    [
        ("no_retrieval", set()),
        ("ircot", set()),
        ("flare", {Capability.LOGPROBS}),
        ("scaar", {Capability.LOGPROBS}),
        ("perplexity", {Capability.LOGPROBS}),
        ("mean_entropy", {Capability.ENTROPY}),
        ("dragin", WHITE_BOX),
        ("dragin_reference", WHITE_BOX),
        ("etc", WHITE_BOX),
        ("etc_reference", WHITE_BOX),
    ],
)
def test_a_policy_needs_the_capabilities_of_its_trigger_and_its_query(
    policy: str, needed: set[Capability]
) -> None:
    assert capabilities(effective_policy(PolicyRequest(policy), model())) == needed


def test_a_query_by_attention_needs_attention_under_any_trigger() -> None:
    request = PolicyRequest("scaar", PolicyOverrides(query="attention"))
    policy = effective_policy(request, model())
    assert capabilities(policy) == {Capability.LOGPROBS, Capability.ATTENTION}


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("query", FORMULATIONS)
def test_every_trigger_combines_with_every_query(trigger: str, query: str) -> None:
    without = query in ("question", "uncovered_question", "pseudo_passage", "next_hop")
    for included in (None,) if without else (None, True, False):
        overrides = PolicyOverrides(trigger=trigger, query=query, include_question=included)
        learned = LEARNED if trigger == "learned" else None
        request = PolicyRequest("scaar", overrides, learned=learned)
        assert wrong_fields(request) == []
        policy = effective_policy(request, model())
        assert (policy.trigger, policy.query.formulation) == (trigger, query)
        assert TRIGGERS[trigger].theta.holds(policy.theta), "its paper's threshold comes with it"


def test_another_trigger_does_not_take_the_threshold_recommended_for_the_policys_own() -> None:
    request = PolicyRequest("scaar", PolicyOverrides(trigger="rind"))
    policy = effective_policy(request, model(RecommendedSettings("scaar", theta=0.2, alpha=75.0)))
    assert (policy.theta, policy.query.alpha) == (1.0, 75.0)
    assert dict(policy.sources)["theta"] is SettingSource.PAPER


@pytest.mark.parametrize("policy", ["scaar", "flare", "perplexity"])
def test_a_trigger_takes_the_theta_that_the_model_recommends_for_it(policy: str) -> None:
    recommended = model(
        RecommendedSettings(policy, theta=1.0, alpha=75.0, top_k=5),
        RecommendedSettings("dragin", theta=0.77, top_k=9),
    )
    request = PolicyRequest(policy, PolicyOverrides(trigger="rind"))
    found = effective_policy(request, recommended)
    assert (found.theta, found.top_k) == (0.77, 5)
    assert dict(found.sources)["theta"] is SettingSource.MODEL
    assert dict(found.sources)["trigger"] is SettingSource.REQUEST


@pytest.mark.parametrize(
    ("trigger", "theta", "limit"),
    [
        ("flare", 1.01, "(0, 1]"),
        ("rind", 0.0, "(0, 100]"),
        ("etc", 100.5, "(0, 100]"),
        ("perplexity", 0.99, "[1, 1e+06]"),
    ],
)
def test_each_trigger_has_its_own_range_of_theta(trigger: str, theta: float, limit: str) -> None:
    request = PolicyRequest("scaar", PolicyOverrides(trigger=trigger, theta=theta))
    (wrong,) = check_policy(request)
    assert wrong.field == "policy.theta"
    assert wrong.description.startswith(f"must be in {limit} for trigger {trigger}")


@pytest.mark.parametrize(
    ("trigger", "setting"),
    [
        ("rind", {"theta_cap": 0.9}),
        ("mean_entropy", {"granularity": Granularity.TOKEN}),
        ("perplexity", {"spare_stop_words": True}),
        ("etc", {"spare_stop_words": False}),
        ("exp_raw", {"top_words": 5}),
    ],
)
def test_a_setting_without_effect_on_the_trigger_is_refused(
    trigger: str, setting: dict[str, Any]
) -> None:
    (name,) = setting
    request = PolicyRequest("scaar", PolicyOverrides(trigger=trigger, **setting))
    assert wrong_fields(request) == [f"policy.{name}"]


@pytest.mark.parametrize("preset", [each for each in PRESETS.values() if each.moments])
def test_policies_of_packages_can_have_the_moments_of_the_built_in_ones(preset: Preset) -> None:
    with PRESETS.with_parts({"mine": replace(preset, name="mine")}):
        assert "mine" in PRESETS


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"moments": (Moment.UNCERTAIN_DRAFT,)}, "it needs a trigger, since it retrieves for unc"),
        ({"moments": (Moment.BEFORE_WINDOW,)}, "its window_tokens must be at least 1"),
        (
            {"moments": (Moment.BEFORE_SENTENCE, Moment.AFTER_ANSWER)},
            "its moments cannot be combined: before_sentence, after_answer",
        ),
        (
            {"moments": (Moment.UNCERTAIN_DRAFT, Moment.ON_REQUEST), "trigger": "flare"},
            "its moments cannot be combined: uncertain_draft, on_request",
        ),
    ],
)
def test_a_policy_that_no_answer_could_follow_is_refused(
    given: dict[str, Any], problem: str
) -> None:
    part = replace(PRESETS["single_round"], name="mine", **given)
    with pytest.raises(ExtensionInvalid, match=problem), PRESETS.with_parts({"mine": part}):
        pass
