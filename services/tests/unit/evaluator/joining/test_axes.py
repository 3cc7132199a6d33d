from dataclasses import dataclass, replace

import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.results import DatasetOrigin, Evaluation, Grid, LeftOut
from scaar.evaluator.studies.joining.axes import Axis, axes_of

from ..simulated import draw_questions, evaluation_of, setting

QUESTIONS = draw_questions(8)
SETTINGS = (setting("no_retrieval"), setting("flare", theta=0.4), setting("scaar", theta=0.4))
ONE = evaluation_of(QUESTIONS, SETTINGS)


@dataclass(frozen=True, slots=True)
class _Rated(DatasetOrigin):
    """A data set that is drawn by a number of its own."""

    rate: float = 0.5


def _by_model(name: str, *, revision: str = "3f2a", of: Evaluation = ONE) -> Evaluation:
    made = {
        label: replace(each, model=name, model_revision=revision)
        for label, each in of.provenance.items()
    }
    return replace(of, provenance=made)


def _at_top_k(count: int | None) -> Evaluation:
    settings = (setting("no_retrieval"), setting("flare", theta=0.4, top_k=count))
    return evaluation_of(QUESTIONS, settings)


def _rated(rate: float) -> Evaluation:
    known = {name: getattr(ONE.dataset, name) for name in DatasetOrigin.__slots__}
    origin = _Rated(**{**known, "checksum": f"{rate}"}, rate=rate)
    return replace(ONE, dataset=origin)


def _axes(*evaluations: Evaluation) -> dict[str, Axis]:
    named = dict(zip("abcd", evaluations, strict=False))
    return {axis.name: axis for axis in axes_of(named)}


def _refused(*evaluations: Evaluation) -> str:
    with pytest.raises(InvalidRequest) as refused:
        _axes(*evaluations)
    return str(refused.value)


def test_models_are_distinguished_by_name_and_then_by_revision() -> None:
    named = _axes(ONE, _by_model("lab-lm-b"))["model"]
    assert (named.values, named.swept) == (("lab-lm", "lab-lm-b"), False)
    twins = _axes(ONE, _by_model("lab-lm", revision="77aa"))["model"]
    assert twins.values == ("lab-lm 3f2a (onnx)", "lab-lm 77aa (onnx)")


def test_a_seed_is_something_to_differ_in_and_nothing_to_sweep() -> None:
    other = replace(ONE, dataset=replace(ONE.dataset, seed=1, checksum="cd" * 32))
    axes = _axes(ONE, other)
    assert (axes["seed"].values, axes["seed"].swept) == (("0", "1"), False)
    assert list(axes) == ["model", "seed"]


def test_a_number_of_the_data_set_s_own_is_swept() -> None:
    axes = _axes(_rated(1.0), _rated(0.0), _rated(0.25))
    assert (axes["rate"].values, axes["rate"].swept) == ((1.0, 0.0, 0.25), True)


def test_a_number_that_differs_between_evaluations_is_swept() -> None:
    axes = _axes(_at_top_k(1), _at_top_k(None), _at_top_k(8))
    assert (axes["top_k"].values, axes["top_k"].swept) == ((1.0, 3.0, 8.0), True)


def test_values_that_are_several_in_each_are_refused() -> None:
    several = (*SETTINGS[:2], setting("flare", theta=0.6), SETTINGS[2])
    message = _refused(ONE, evaluation_of(QUESTIONS, several))
    assert "b cannot be joined to a: theta of policies 0.4, 0.6 (flare)" in message


def test_thetas_that_a_grid_has_placed_are_places_and_need_not_be_equal() -> None:
    def laid(theta: float, size: int) -> Evaluation:
        settings = (setting("no_retrieval"), setting("flare", theta=theta))
        return replace(evaluation_of(QUESTIONS, settings), grid=Grid(size, {}, (), ()))

    assert list(_axes(laid(0.3, 2), _by_model("b", of=laid(0.7, 2)))) == ["model"]
    assert "the grid is of 3 there and of 2 here" in _refused(laid(0.3, 2), laid(0.3, 3))
    assert "the grid is not set there and of 2 here" in _refused(laid(0.4, 2), _at_top_k(None))


def test_a_policy_that_a_model_cannot_serve_keeps_nobody_apart() -> None:
    lacking = replace(
        _by_model("black", of=evaluation_of(QUESTIONS, SETTINGS[:2])),
        left_out=(LeftOut(SETTINGS[2], "attention"),),
    )
    assert _axes(ONE, lacking)["model"].differs


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (ONE, "a and b are the same evaluation: no compared property differs"),
        (
            evaluation_of(QUESTIONS, SETTINGS[:2]),
            "policies of only one of them are none there and ",
        ),
        (
            evaluation_of(QUESTIONS, (*SETTINGS, setting("scaar", trigger="flare"))),
            "policies of only one of them are scaar:trigger=flare there and none here",
        ),
        (
            replace(ONE, dataset=replace(ONE.dataset, checksum="ef", questions=3)),
            "the questions are 3 of SHA-256 ef there and 8 of SHA-256 abababababab here",
        ),
        (replace(ONE, budget=replace(ONE.budget, timeout_s=5.0)), "timeout_s 5 there and"),
    ],
)
def test_what_does_not_go_together_is_refused_with_what_is_different(
    other: Evaluation, message: str
) -> None:
    assert message in _refused(ONE, other)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("scorer", "the scorer is other 9c1d there and lab-cross-encoder 9c1d here"),
        ("index", "the index is other f0e1d2c3 there and lab f0e1d2c3 here"),
        ("prompt_profile", "the prompt layout is other there and lab here"),
    ],
)
def test_other_parts_than_those_that_are_compared_are_refused(field: str, message: str) -> None:
    made = {label: replace(each, **{field: "other"}) for label, each in ONE.provenance.items()}
    assert message in _refused(ONE, replace(ONE, provenance=made))


def test_another_model_may_have_another_layout_and_another_data_set_another_index() -> None:
    other = _by_model("b")
    made = {label: replace(each, prompt_profile="x") for label, each in other.provenance.items()}
    assert _axes(ONE, replace(other, provenance=made))["model"].differs
    moved = {label: replace(each, index="x") for label, each in ONE.provenance.items()}
    seeded = replace(ONE, dataset=replace(ONE.dataset, seed=1, checksum="x"), provenance=moved)
    assert _axes(ONE, seeded)["seed"].differs
