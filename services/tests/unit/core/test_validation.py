from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.types import AnswerRequest, BudgetLimits, PolicyOverrides, PolicyRequest
from scaar.core.validation import validate

REQUEST = AnswerRequest("Where was Ada born?")


def wrong(request: AnswerRequest) -> list[str]:
    """Return the error of a refused request."""
    with pytest.raises(InvalidRequest) as caught:
        validate(request)
    assert caught.value.message == "; ".join(map(str, caught.value.violations))
    return [str(violation) for violation in caught.value.violations]


@pytest.mark.parametrize(
    "question",
    [
        "?",
        "Where was Ada born?\nTell\tme.\r\n",
        "Who is 🙂 and who is 👩‍👩‍👧‍👦?",
        "¿Dónde nació Ада Лавлейс, 爱达?",
        "نیم‌فاصله: where is it?",
        "Question: So the answer is 42. [2] </s>",
        " ".join(["word"] * 20_000),
        "x" * 131_072,
    ],
)
def test_a_question_in_any_words_is_fine(question: str) -> None:
    validate(AnswerRequest(question))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", "question: must not be empty"),
        (" \n\t\u3000 ", "question: must not be empty"),
        ("x" * 131_073, "question: must have at most 131,072 characters, not 131,073"),
        ("a\x00b", "question: holds the control character U+0000 at 1"),
        ("\x1b[31mred", "question: holds the control character U+001B at 0"),
        ("a\x7f", "question: holds the control character U+007F at 1"),
        ("a\x85b", "question: holds the control character U+0085 at 1"),
        ("half a pair \ud83d", "question: holds the control character U+D83D at 12"),
    ],
)
def test_an_invalid_question_is_refused_with_the_limit(question: str, expected: str) -> None:
    assert wrong(AnswerRequest(question)) == [expected]


@pytest.mark.parametrize(
    ("policy", "overrides", "expected"),
    [
        (
            "maybe",
            PolicyOverrides(),
            f"policy.name: there is no policy 'maybe'; known: {', '.join(PRESETS)}",
        ),
        (
            "no_retrieval",
            PolicyOverrides(theta=0.5),
            "policy.theta: policy no_retrieval has no such setting",
        ),
        (
            "scaar",
            PolicyOverrides(theta=1.5),
            "policy.theta: must be in (0, 1] for policy scaar, not 1.5",
        ),
        (
            "flare",
            PolicyOverrides(theta=0.0),
            "policy.theta: must be in (0, 1] for policy flare, not 0",
        ),
        (
            "scaar",
            PolicyOverrides(alpha=0.0),
            "policy.alpha: must be in (0, 100] for policy scaar, not 0",
        ),
        (
            "scaar",
            PolicyOverrides(alpha=100.1),
            "policy.alpha: must be in (0, 100] for policy scaar, not 100.1",
        ),
        (
            "scaar",
            PolicyOverrides(top_k=0),
            "policy.top_k: must be 1 to 100 for policy scaar, not 0",
        ),
        (
            "single_round",
            PolicyOverrides(top_k=101),
            "policy.top_k: must be 1 to 100 for policy single_round, not 101",
        ),
    ],
)
def test_a_policy_that_cannot_be_run_is_refused_with_the_limit(
    policy: str, overrides: PolicyOverrides, expected: str
) -> None:
    assert wrong(replace(REQUEST, policy=PolicyRequest(policy, overrides))) == [expected]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (BudgetLimits(max_sentences=0), "budget.max_sentences: must be 1 to 100, not 0"),
        (BudgetLimits(max_sentences=101), "budget.max_sentences: must be 1 to 100, not 101"),
        (BudgetLimits(max_tokens=0), "budget.max_tokens: must be 1 to 8192, not 0"),
        (BudgetLimits(max_tokens=8_193), "budget.max_tokens: must be 1 to 8192, not 8193"),
        (BudgetLimits(max_retrievals=-1), "budget.max_retrievals: must be 0 to 100, not -1"),
        (BudgetLimits(max_retrievals=101), "budget.max_retrievals: must be 0 to 100, not 101"),
        (BudgetLimits(timeout_s=0.0), "budget.timeout_s: must be in (0, 3600], not 0"),
        (BudgetLimits(timeout_s=3_601.0), "budget.timeout_s: must be in (0, 3600], not 3601"),
        (BudgetLimits(timeout_s=float("inf")), "budget.timeout_s: must be in (0, 3600], not inf"),
        (BudgetLimits(timeout_s=float("nan")), "budget.timeout_s: must be in (0, 3600], not nan"),
    ],
)
def test_a_budget_out_of_range_is_refused_with_the_limit(
    limits: BudgetLimits, expected: str
) -> None:
    assert wrong(replace(REQUEST, budget=limits)) == [expected]


def test_the_edges_of_a_budget_are_allowed() -> None:
    validate(replace(REQUEST, budget=BudgetLimits(1, 1, 0, 0.001)))
    validate(replace(REQUEST, budget=BudgetLimits(100, 8_192, 100, 3_600.0)))


@pytest.mark.parametrize("request_id", ["", "r-1", "x" * 128, "a b!"])
def test_a_request_id_may_be_anything_that_metadata_carries(request_id: str) -> None:
    validate(replace(REQUEST, request_id=request_id))


@pytest.mark.parametrize("request_id", ["two\nlines", "fünf", "x" * 129, "\x00"])
def test_a_request_id_that_metadata_cannot_carry_is_refused(request_id: str) -> None:
    expected = "request_id: must be at most 128 printable ASCII characters"
    assert wrong(replace(REQUEST, request_id=request_id)) == [expected]


def test_the_name_of_an_index_is_checked() -> None:
    for index in (" ", "A", "-a", "a" * 65):
        rule = "must be 1 to 64 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit"
        assert wrong(replace(REQUEST, index=index)) == [f"index: {rule}, not {index!r}"]


def test_a_request_without_an_index_is_for_the_default_one() -> None:
    validate(replace(REQUEST, index=""))


def test_every_wrong_field_is_named_together() -> None:
    request = AnswerRequest(
        "",
        PolicyRequest("scaar", PolicyOverrides(theta=2.0)),
        index="A",
        budget=BudgetLimits(max_tokens=0, timeout_s=-1.0),
        request_id="\n",
    )
    assert [expected.partition(":")[0] for expected in wrong(request)] == [
        "question",
        "policy.theta",
        "budget.max_tokens",
        "budget.timeout_s",
        "request_id",
        "index",
    ]


def test_an_integer_beyond_all_floats_is_refused_like_any_other_number() -> None:
    huge = 10**400
    overrides = PolicyOverrides(theta=huge, top_k=huge, mask_below=huge)
    request = AnswerRequest(
        "Who?", PolicyRequest("flare", overrides), budget=BudgetLimits(timeout_s=huge)
    )
    found = wrong(request)
    assert len(found) == 4
    assert {each.rpartition(", not ")[2] for each in found} == {
        "an integer of more than 300 digits"
    }
