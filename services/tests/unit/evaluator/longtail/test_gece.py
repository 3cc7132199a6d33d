import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.evaluator.studies.longtail.gece import Variant, called_long_tail, count_of, gece, ranks
from scaar.evaluator.studies.longtail.records import Label, Parts

# By hand: |0.25 - 0.75| = 0.5; 0.5 / (0.01 * 2) = 25; 0.5 / 2 = 0.25; 0.5 / 0.01 = 50.
WORKED = Parts(meteor=0.25, probability=0.75, frequency=0.01, product=2.0)
OPPOSED = Parts(meteor=0.25, probability=0.75, frequency=0.01, product=-3.0)
ORTHOGONAL = Parts(meteor=0.9, probability=0.9, frequency=0.01, product=0.0)


@pytest.mark.parametrize(
    ("variant", "value"),
    [
        (Variant.GECE, 25.0),
        (Variant.WITHOUT_STATISTICS, 0.25),
        (Variant.WITHOUT_SEMANTICS, 50.0),
        (Variant.GAP, 0.5),
    ],
)
def test_a_case_worked_by_hand_comes_out(variant: Variant, value: float) -> None:
    assert gece(WORKED, variant) == pytest.approx(value)


def test_a_product_that_cannot_be_divided_by_is_most_long_tail_but_where_it_is_left_out() -> None:
    for parts in (OPPOSED, ORTHOGONAL):
        assert math.isinf(gece(parts))
        assert math.isinf(gece(parts, Variant.WITHOUT_STATISTICS))
    assert gece(OPPOSED, Variant.WITHOUT_SEMANTICS) == pytest.approx(50.0)
    assert gece(OPPOSED, Variant.GAP) == pytest.approx(0.5)
    assert ranks([WORKED, ORTHOGONAL, OPPOSED]) == (3, 2, 1)


numbers = st.floats(0.001, 1.0)
a_part = st.builds(Parts, numbers, numbers, numbers, st.floats(-10, 10))


@given(st.lists(a_part, min_size=1, max_size=20))
def test_ranks_are_an_order_of_all_in_which_the_measure_falls(parts: list[Parts]) -> None:
    for variant in Variant:
        found = ranks(parts, variant)
        assert sorted(found) == list(range(1, len(parts) + 1))
        by_rank = [gece(parts[found.index(rank)], variant) for rank in sorted(found)]
        assert by_rank == sorted(by_rank, reverse=True)


@given(a_part, st.floats(0.1, 10))
def test_rarer_words_and_fewer_like_it_make_a_question_more_long_tail(
    parts: Parts, less: float
) -> None:
    smaller = min(less, 0.9)
    rarer = Parts(parts.meteor, parts.probability, parts.frequency * smaller, parts.product)
    assert gece(rarer) >= gece(parts)


def test_a_share_of_questions_is_rounded_and_never_none() -> None:
    assert [count_of(0.2, questions) for questions in (1, 2, 5, 7, 8, 500)] == [1, 1, 1, 1, 2, 100]


def test_each_variant_labels_its_first_ranks_as_long_tail() -> None:
    labels = [
        Label(
            *(f"q{at}", "Who?", "Ada", "Ada", replace(WORKED, meteor=0.5 - at / 10)),
            *(0.5, 0.1, 0.1, 1.0),
            rank=at + 1,
            long_tail=at == 0,
            without_statistics=4 - at,
            without_semantics=(at + 2) % 4 + 1,
        )
        for at in range(4)
    ]
    called = {each: called_long_tail(labels, each, share=0.25).index(True) for each in Variant}
    assert called == {
        Variant.GECE: 0,
        Variant.WITHOUT_STATISTICS: 3,
        Variant.WITHOUT_SEMANTICS: 2,
        Variant.GAP: 3,
    }
