import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.types import GateJudged
from scaar.evaluator.records import Question
from scaar.evaluator.studies.longtail.detection import score_gate

JUDGED = st.tuples(st.floats(0, 1), st.booleans())


def judged(probability: float) -> GateJudged:
    return GateJudged("gece_proxy", "", probability, 0.5, {})


def ask(count: int) -> list[Question]:
    return [Question(f"q{at}", "Who?", ("Ada",), f"e{at % 7}") for at in range(count)]


def test_what_passes_is_held_against_the_tail() -> None:
    found = score_gate(
        [judged(each) for each in (0.9, 0.8, 0.3, 0.2, 0.1)],
        ask(5),
        (True, False, True, False, False),
    )
    assert (found.passed.value, found.precision.value, found.recall.value) == (0.4, 0.5, 0.5)
    assert found.auroc.value == pytest.approx(5 / 6)


def test_a_gate_that_passes_nothing_has_no_precision() -> None:
    found = score_gate([judged(0.1)] * 4, ask(4), (True, False, False, False))
    assert (found.passed.value, found.recall.value) == (0.0, 0.0)
    assert found.precision.value is None
    assert found.auroc.value == 0.5


def test_without_a_tail_there_is_nothing_to_find() -> None:
    found = score_gate([judged(0.9)] * 4, ask(4), (False,) * 4)
    assert (found.passed.value, found.precision.value) == (1.0, 0.0)
    assert found.recall.value is None
    assert found.auroc.low is None


@given(st.lists(JUDGED, min_size=2, max_size=20))
def test_what_is_found_is_what_is_passed_rightly(given_: list[tuple[float, bool]]) -> None:
    tail = [each for _, each in given_]
    if all(tail) or not any(tail):
        return
    found = score_gate([judged(each) for each, _ in given_], ask(len(tail)), tail)
    hits = sum(each >= 0.5 and of_tail for each, of_tail in given_)
    assert found.recall.value * sum(tail) == pytest.approx(hits)
    if found.passed.value:
        passed = found.passed.value * len(tail)
        assert found.precision.value * passed == pytest.approx(hits)
        if found.precision.low is not None:
            assert found.precision.low <= found.precision.high
