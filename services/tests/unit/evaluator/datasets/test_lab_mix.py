import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.lab_mix import draw_mix
from scaar.evaluator.datasets.loader import open_dataset
from scaar.evaluator.records import Question
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world

WORLD = build_world(2001)
SHARES = st.integers(0, 20).map(lambda twentieths: twentieths / 20)


def popularities(questions: tuple[Question, ...]) -> list[str]:
    return [dict(each.labels)["popularity"] for each in questions]


@settings(deadline=None)
@given(SHARES, st.integers(0, 120))
def test_the_tail_has_its_share_spread_evenly_and_the_questions_are_those_of_any_share(
    share: float, count: int
) -> None:
    drawn = draw_mix(WORLD, count=count, tail_share=share)
    tails = round(20 * share) * count // 20
    for split, many in (("tail", tails), ("head", count - tails)):
        own = [each for each in drawn if each.split == split]
        assert own == draw_questions(WORLD, count=many, split=split)
    assert draw_mix(WORLD, count=count + 7, tail_share=share)[:count] == drawn


def test_one_half_is_what_is_drawn_without_a_share() -> None:
    drawn = draw_questions(WORLD, count=31)
    assert draw_mix(WORLD, count=31) == drawn
    assert draw_mix(WORLD, count=31, tail_share=0.5) == drawn


def test_a_data_set_is_drawn_with_its_share_of_the_tail() -> None:
    drawn = open_dataset("lab", seed=2001, count=50, tail_share=0.2).questions
    assert popularities(drawn) == [*["head"] * 4, "tail"] * 10
    assert drawn == open_dataset("lab", seed=2001, count=50, tail_share=0.2).questions
    plain = open_dataset("lab", seed=2001, count=50, tail_share=0.2, style=0.0).questions
    assert [each.id for each in plain] == [each.id for each in drawn]


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_of_a_whole(share: float) -> None:
    with pytest.raises(InvalidRequest, match=f"tail_share: must be 0 to 1, not {share:g}"):
        open_dataset("lab", tail_share=share)


def test_a_share_that_leaves_too_few_of_a_kind_is_reported_with_how_many_there_are() -> None:
    with pytest.raises(InvalidRequest, match="count: must be lower: its tail questions must be"):
        open_dataset("lab", count=1_000_000, tail_share=0.1)


def test_a_data_set_of_a_file_takes_no_share() -> None:
    with pytest.raises(InvalidRequest, match="tail_share: is not taken by the data set nq"):
        open_dataset("nq", tail_share=0.2)
