import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.planning.gates import Gating, gates_named, with_gates
from scaar.evaluator.planning.settings import plan_settings


def test_policies_that_retrieve_run_without_and_with_the_gate() -> None:
    settings = plan_settings(("no_retrieval", "single_round", "flare"), {"theta": (0.3, 0.6)})
    found = with_gates(settings, gates_named(("gece_proxy", "gece_proxy:0.25")))
    assert [each.label for each in found] == [
        "no_retrieval",
        "single_round",
        "single_round:gate=gece_proxy",
        "single_round:gate=gece_proxy,gate_threshold=0.25",
        "flare:theta=0.3",
        "flare:theta=0.3,gate=gece_proxy",
        "flare:theta=0.3,gate=gece_proxy,gate_threshold=0.25",
        "flare:theta=0.6",
        "flare:theta=0.6,gate=gece_proxy",
        "flare:theta=0.6,gate=gece_proxy,gate_threshold=0.25",
    ]


def test_a_router_is_one_setting_whatever_policies_are_compared() -> None:
    settings = plan_settings(("no_retrieval", "flare"), {})
    found = with_gates(settings, gates_named(("gece_proxy", "adaptive_rag")))
    assert [each.label for each in found] == [
        "no_retrieval",
        "flare",
        "flare:gate=gece_proxy",
        "single_round:gate=adaptive_rag",
    ]
    alone = with_gates(plan_settings(("no_retrieval",), {}), gates_named(("adaptive_rag",)))
    assert [each.label for each in alone] == ["no_retrieval", "single_round:gate=adaptive_rag"]


def test_a_policy_runs_once_behind_a_gate_that_it_has_by_itself() -> None:
    gates = gates_named(("quco", "quco:0.5", "gece_proxy"))
    found = with_gates(plan_settings(("quco", "flare"), {}), gates)
    assert [each.label for each in found] == [
        "quco",
        "quco:gate=quco,gate_threshold=0.5",
        "quco:gate=gece_proxy",
        "flare",
        "flare:gate=quco",
        "flare:gate=quco,gate_threshold=0.5",
        "flare:gate=gece_proxy",
    ]
    settings = plan_settings(("no_retrieval", "quco"), {})
    with pytest.raises(InvalidRequest, match="gates: quco has no effect on no_retrieval, quco"):
        with_gates(settings, gates_named(("gece_proxy", "quco")))


def test_without_a_gate_nothing_changes() -> None:
    settings = plan_settings(("no_retrieval", "flare"), {})
    assert with_gates(settings, ()) == settings


def test_a_gate_without_a_retrieving_policy_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="gates: has no effect on no_retrieval: none"):
        with_gates(plan_settings(("no_retrieval",), {}), gates_named(("gece_proxy",)))


def test_a_gate_is_not_given_in_two_ways() -> None:
    settings = plan_settings(("flare",), {"gate": ("gece_proxy",)})
    with pytest.raises(InvalidRequest, match="gates: cannot be combined with the setting gate"):
        with_gates(settings, gates_named(("gece_proxy",)))


def test_gates_are_named_with_their_threshold_or_without() -> None:
    assert gates_named(("gece_proxy:1", "gece_proxy")) == (
        Gating("gece_proxy", 1.0),
        Gating("gece_proxy"),
    )


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("gece",), "there is no gate 'gece'; known: gece_proxy"),
        (("",), "there is no gate ''"),
        (("adaptive_rag:0.5",), "adaptive_rag has no threshold: it chooses among policies"),
        (("gece_proxy:",), r"the threshold of gece_proxy must be a number in \(0, 1\], not ''"),
        (("gece_proxy:0",), r"must be a number in \(0, 1\], not '0'"),
        (("gece_proxy:nan",), "not 'nan'"),
        (("gece_proxy:0.5", "gece_proxy:0.50"), "gece_proxy:0.50 is given twice"),
    ],
)
def test_an_unknown_name_is_refused(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        gates_named(names)
