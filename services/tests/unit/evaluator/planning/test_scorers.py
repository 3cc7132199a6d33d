import pytest

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.evaluator.planning.axes import scorers_named, with_scorers
from scaar.evaluator.planning.settings import plan_settings


def test_settings_that_use_the_scorer_run_with_each_control_and_others_once() -> None:
    settings = plan_settings(("single_round", "flare", "scaar"), {"query": ("pfq", "question")})
    found = with_scorers(settings, (None, Control.IDF))
    assert [each.label for each in found] == [
        "single_round",
        "flare:query=pfq",
        "flare:query=pfq,scorer=idf",
        "flare:query=question",
        "scaar:query=pfq",
        "scaar:query=pfq,scorer=idf",
        "scaar:query=question",
        "scaar:query=question,scorer=idf",
    ]
    assert [each.scorer for each in found if each.label.endswith("idf")] == [Control.IDF] * 3


def test_the_scorer_itself_changes_nothing() -> None:
    settings = plan_settings(("flare", "scaar"), {})
    assert with_scorers(settings, (None,)) == settings


def test_a_control_without_a_policy_that_uses_the_scorer_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="scorers: has no effect on flare, ircot: none uses"):
        with_scorers(plan_settings(("flare", "ircot"), {}), (None, Control.IDF))


def test_scorers_are_named_as_the_setting_control_is() -> None:
    assert scorers_named(("none", "permuted", "constant", "idf")) == (None, *Control)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("idf", "shuffled"), "no scorer 'shuffled'; known: none, permuted, constant, idf"),
        (("",), "there is no scorer ''"),
        (("idf", "none", "idf"), "idf is given twice"),
    ],
)
def test_an_unknown_name_is_refused(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        scorers_named(names)
