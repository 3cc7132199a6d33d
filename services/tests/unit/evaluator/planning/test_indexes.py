import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.planning.ablations import plan_ablation
from scaar.evaluator.planning.axes import check_index_names, with_indexes
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.statistics.variants import policy_variants


def test_policies_that_retrieve_run_with_each_index_and_others_once() -> None:
    planned = plan_settings(("no_retrieval", "flare"), {"theta": (0.5, 0.6)})
    found = with_indexes(planned, ("words", "vectors"))
    assert [each.label for each in found] == [
        "no_retrieval",
        "flare:theta=0.5,index=words",
        "flare:theta=0.5,index=vectors",
        "flare:theta=0.6,index=words",
        "flare:theta=0.6,index=vectors",
    ]
    assert [each.index for each in found] == [None, *("words", "vectors") * 2]


def test_a_single_index_leaves_the_settings_as_they_are() -> None:
    planned = plan_settings(("flare",), {})
    assert with_indexes(planned, ("words",)) == planned == with_indexes(planned, ())


def test_several_indexes_for_policies_that_retrieve_nothing_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="indexes: several have no effect on no_retrieval"):
        with_indexes(plan_settings(("no_retrieval",), {}), ("words", "vectors"))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("a", ""), "must be 1 to 64 of a-z"),
        (("A",), "not 'A'"),
        (("a", "b", "a"), "a is given twice"),
    ],
)
def test_wrong_names_are_refused(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        check_index_names(names)


def test_the_ablation_of_the_retriever_holds_indexes_against_each_other() -> None:
    found = plan_ablation("retriever", {}, ("words", "vectors"))
    assert [each.label for each in found] == [
        "no_retrieval",
        *(
            f"{policy}:index={index}"
            for policy in ("single_round", "flare", "scaar")
            for index in ("words", "vectors")
        ),
    ]
    assert [each.name for each in policy_variants(found)] == [each.label for each in found]


@pytest.mark.parametrize("indexes", [(), ("words",)])
def test_the_ablation_of_the_retriever_takes_two_indexes(indexes: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRequest, match="indexes: must name at least two indexes"):
        plan_ablation("retriever", {}, indexes)
