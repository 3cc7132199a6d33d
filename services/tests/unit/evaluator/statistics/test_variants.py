from scaar.core.controls import Control
from scaar.core.types import Granularity, PolicyRequest
from scaar.evaluator.planning.axes import with_scorers
from scaar.evaluator.records import Setting
from scaar.evaluator.statistics.variants import (
    PolicyVariant,
    in_force,
    policy_variants,
    variant_name,
)

from ..simulated import setting


def test_settings_that_differ_in_tuned_values_are_candidates_of_one_variant() -> None:
    settings = (
        setting("scaar", theta=0.2),
        setting("flare", theta=0.2),
        setting("scaar", theta=0.3, alpha=75.0, top_k=5),
    )
    assert policy_variants(settings) == (
        PolicyVariant("scaar", (0, 2)),
        PolicyVariant("flare", (1,)),
    )


def test_another_trigger_or_query_makes_another_policy() -> None:
    names = [
        variant_name(setting("flare", theta=0.5, query="pfq").policy),
        variant_name(setting("scaar", trigger="surprisal").policy),
        variant_name(setting("scaar", include_question=False).policy),
        variant_name(setting("flare", include_question=True).policy),
    ]
    assert names == [
        "flare:query=pfq",
        "scaar:trigger=surprisal",
        "scaar:include_question=false",
        "flare:include_question=true",
    ]


def test_another_scorer_makes_another_policy() -> None:
    settings = with_scorers(
        (setting("flare"), setting("scaar", theta=0.2), setting("scaar", theta=0.3)),
        (None, Control.CONSTANT),
    )
    assert policy_variants(settings) == (
        PolicyVariant("flare", (0,)),
        PolicyVariant("scaar", (1, 3)),
        PolicyVariant("scaar:scorer=constant", (2, 4)),
    )


def test_naming_a_default_changes_nothing() -> None:
    for policy in (
        setting("scaar", trigger="exp_raw", query="pfq"),
        setting("scaar", include_question=True),
    ):
        assert variant_name(policy.policy) == "scaar"
    named = setting("flare", spare_stop_words=False, granularity=Granularity.WORD)
    assert variant_name(named.policy) == "flare"
    alike = setting("flare", query="pfq", include_question=True)
    assert variant_name(alike.policy) == "flare:query=pfq"


def test_a_setting_that_never_answered_has_the_papers_values() -> None:
    (policy,) = in_force((setting("scaar", alpha=75.0),), {})
    assert policy is not None
    assert (policy.theta, policy.query.alpha, policy.trigger) == (0.8, 75.0, "exp_raw")


def test_an_unknown_policy_is_a_variant_without_values() -> None:
    settings = (Setting("later", PolicyRequest("later")),)
    assert policy_variants(settings) == (PolicyVariant("later", (0,)),)
    assert in_force(settings, {}) == (None,)
