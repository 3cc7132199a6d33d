import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.policies.effective import effective_policy
from scaar.core.types import (
    Capability,
    Formulation,
    LogprobKind,
    ModelDescription,
    PolicyOverrides,
    PolicyRequest,
    RecommendedSettings,
    SettingSource,
    Weighting,
    When,
)


def model(*recommended: RecommendedSettings) -> ModelDescription:
    return ModelDescription(
        model="m",
        revision="r",
        engine="fake",
        logprob_kind=LogprobKind.RAW,
        capabilities=frozenset({Capability.LOGPROBS}),
        max_total_tokens=2048,
        prompt_profile="lab",
        recommended=recommended,
    )


def wrong_fields(request: PolicyRequest) -> list[str]:
    with pytest.raises(InvalidRequest) as caught:
        effective_policy(request, model())
    return [violation.field for violation in caught.value.violations]


def test_the_defaults_are_the_papers() -> None:
    policy = effective_policy(PolicyRequest("scaar"), model())
    assert (policy.theta, policy.theta_cap, policy.top_k) == (0.8, 1.0, 3)
    assert policy.weighting is Weighting.EXP_RAW
    assert policy.query.formulation is Formulation.PFQ
    assert (policy.query.alpha, policy.query.include_question) == (50.0, True)
    assert {source for _, source in policy.sources} == {SettingSource.PAPER}


def test_flare_holds_every_word_to_one_threshold_and_asks_with_the_draft() -> None:
    policy = effective_policy(PolicyRequest("flare"), model())
    assert policy.weighting is Weighting.NONE
    assert policy.query.formulation is Formulation.CURRENT_SENTENCE
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
    request = PolicyRequest("flare", PolicyOverrides(query=Formulation.PFQ, alpha=30.0))
    policy = effective_policy(request, model())
    assert policy.weighting is Weighting.NONE
    assert policy.query.formulation is Formulation.PFQ
    assert policy.query.include_question, "PFQ asks with the question unless it is told not to"


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


def test_every_wrong_field_is_named_at_once() -> None:
    request = PolicyRequest("scaar", PolicyOverrides(theta=2.0, alpha=-1.0, top_k=0))
    assert wrong_fields(request) == ["policy.theta", "policy.alpha", "policy.top_k"]


def test_the_range_is_in_the_message() -> None:
    with pytest.raises(InvalidRequest, match=r"must be in \(0, 1\] for policy flare, not 2"):
        effective_policy(PolicyRequest("flare", PolicyOverrides(theta=2.0)), model())


def test_the_edges_of_the_ranges_are_allowed() -> None:
    for overrides in (
        PolicyOverrides(theta=1.0, alpha=100.0, top_k=100),
        PolicyOverrides(theta=1e-9, alpha=1e-9, top_k=1),
    ):
        effective_policy(PolicyRequest("scaar", overrides), model())


def test_policies_that_judge_need_log_probabilities() -> None:
    for preset in PRESETS.values():
        judges = preset.when is When.UNCERTAIN_WORD
        assert (Capability.LOGPROBS in preset.needs) is judges, preset.name
