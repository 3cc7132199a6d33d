import pytest

from scaar.cli.ask.overrides import parse_overrides
from scaar.core.errors import InvalidRequest
from scaar.core.types import PolicyOverrides, WordOrder


def test_no_setting_leaves_the_policy_as_it_is() -> None:
    assert parse_overrides([]) == PolicyOverrides()


def test_every_setting_has_the_type_of_its_field() -> None:
    settings = [
        "theta=0.2",
        "theta_cap=1",
        "trigger=surprisal",
        "query=current_sentence",
        "alpha=33.3",
        "include_question=no",
        "word_order=contribution",
        "last_n_tokens=7",
        "top_k=5",
    ]
    assert parse_overrides(settings) == PolicyOverrides(
        theta=0.2,
        theta_cap=1.0,
        trigger="surprisal",
        query="current_sentence",
        alpha=33.3,
        include_question=False,
        word_order=WordOrder.CONTRIBUTION,
        last_n_tokens=7,
        top_k=5,
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("YES", True), ("1", True), ("false", False), ("No", False), ("0", False)],
)
def test_a_truth_value_has_several_spellings(text: str, value: bool) -> None:
    assert parse_overrides([f"include_question={text}"]).include_question is value


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("theta", "--set: must be name=value, not 'theta'"),
        ("", "--set: must be name=value, not ''"),
        ("theta=", "policy.theta: must be a number, not ''"),
        ("theta=high", "policy.theta: must be a number, not 'high'"),
        ("theta=0,2", "policy.theta: must be a number, not '0,2'"),
        ("top_k=3.5", "policy.top_k: must be a whole number, not '3.5'"),
        ("include_question=maybe", "policy.include_question: must be true or false, not 'maybe'"),
        (
            "truncate=word",
            "policy.truncate: must be one of sentence, token, not 'word'",
        ),
    ],
)
def test_a_value_that_does_not_parse_is_reported_with_what_is_expected(
    setting: str, expected: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_overrides([setting])
    assert caught.value.message == expected


def test_an_unknown_setting_is_reported_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidRequest, match=r"^policy\.tau: is not a policy setting; known: alpha, .*"
    ):
        parse_overrides(["tau=1"])


def test_all_invalid_settings_are_reported_together() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_overrides(["theta=x", "tau=1", "top_k=1", "top_k=2"])
    fields = [violation.field for violation in caught.value.violations]
    assert fields == ["policy.theta", "policy.tau", "policy.top_k"]
