from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.prompts import profile_of
from scaar.core.text.sentences import split_sentences
from scaar.lab.passages import passages_of
from scaar.lab.questions import (
    PLAINLY,
    SHARES,
    Kind,
    ListedFilms,
    NewFilms,
    Question,
    draw_question,
    draw_questions,
)
from scaar.lab.world import World, build_world, draw_film


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(2000)


def test_the_same_world_has_the_same_questions_in_the_same_order(world: World) -> None:
    drawn = draw_questions(world, count=20, split="tail")
    assert draw_questions(build_world(2000), count=20, split="tail") == drawn
    assert draw_questions(world, count=50, split="tail")[:20] == drawn


def test_the_two_splits_alternate_by_default(world: World) -> None:
    drawn = draw_questions(world, count=20)
    assert drawn[0::2] == draw_questions(world, count=10, split="head")
    assert drawn[1::2] == draw_questions(world, count=10, split="tail")


def test_questions_are_distinct_and_of_every_kind(world: World) -> None:
    drawn = draw_questions(world, count=2_000)
    assert len({question.id for question in drawn}) == 2_000
    assert len({question.question for question in drawn}) == 2_000
    for split in ("head", "tail"):
        of_split = [question.kind for question in drawn if question.split == split]
        for kind, share in SHARES.items():
            expected = len(of_split) * share / sum(SHARES.values())
            # The popular films' few facts are drawn for once each, so other kinds come instead.
            assert of_split.count(kind) == pytest.approx(expected, rel=0.35)


def test_half_of_the_answers_are_yes(world: World) -> None:
    drawn = draw_questions(world, count=3_000)
    answers = [question.answers[0] for question in drawn if question.kind == "yes_no"]
    assert set(answers) == {"yes", "no"}
    assert answers.count("yes") == pytest.approx(len(answers) / 2, rel=0.2)


def test_less_style_gives_the_same_questions_with_plain_words(world: World) -> None:
    styled, half, plain = (draw_questions(world, count=400, style=rate) for rate in (1, 0.5, 0))
    assert [question.id for question in styled] == [question.id for question in plain]
    assert not any(question.question.endswith(PLAINLY) for question in styled)
    assert [f"{question.question} {PLAINLY}" for question in styled] == [
        question.question for question in plain
    ]
    assert sum(question in styled for question in half) == pytest.approx(200, rel=0.2)
    fewer = draw_questions(world, count=400, style=0.2)
    assert {question.id for question in fewer if question in styled} < {
        question.id for question in half if question in styled
    }


def test_worlds_have_different_tail_questions(world: World) -> None:
    def ask(of: World) -> set[str]:
        return {question.question for question in draw_questions(of, count=500, split="tail")}

    assert len(ask(world) & ask(build_world(2001))) < 50


def test_popular_films_are_drawn_more_often(world: World) -> None:
    ranks = [
        int(question.supports[0].split("-")[1])
        for question in draw_questions(world, count=1_000, split="head")
    ]
    assert sum(rank < 100 for rank in ranks) > sum(rank >= 700 for rank in ranks)


def test_the_supports_are_of_the_questions_films(world: World) -> None:
    passages = {passage.id: passage for passage in passages_of(world)}
    for question in draw_questions(world, count=600):
        texts = [passages[support].text for support in question.supports]
        assert len(set(question.supports)) == len(texts)
        match question.kind:
            case "one_hop":
                assert len(texts) == 1
                assert question.answers[0] in texts[0]
            case "compositional" | "inference":
                assert len(texts) == 2
                assert passages[question.supports[1]].title in texts[0]
                assert question.answers[0] in texts[1]
            case "comparison":
                titles = [passages[support].title for support in question.supports]
                assert len(titles) == 2
                assert question.answers[0] in titles
            case "bridge_comparison":
                first, second, *directors = question.supports
                assert question.answers[0] in (passages[first].title, passages[second].title)
                assert [
                    passages[each].title in text
                    for each, text in zip(directors, texts, strict=False)
                ] == [True, True]
            case "yes_no":
                assert question.answers[0] in ("yes", "no")
                assert len(texts) in (2, 4)


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(Kind))
def test_a_comparison_follows_from_its_facts(seed: int, kind: Kind) -> None:
    random = Random(seed)
    drawn = draw_question(random, NewFilms(lambda: draw_film(random)), kind)
    facts = drawn.facts
    match kind:
        case Kind.COMPARISON:
            first, second = (int(fact.value.split()[-1]) for fact in facts)
            earlier, later = (0, 1) if first < second else (1, 0)
            expected_value = earlier if drawn.target.endswith("first") else later
            assert drawn.answer == facts[expected_value].subject
        case Kind.BRIDGE_COMPARISON:
            first, second = (int(fact.value.split()[-1]) for fact in facts[2:])
            earlier, later = (0, 1) if first < second else (1, 0)
            expected_value = earlier if drawn.target.endswith("first") else later
            assert drawn.answer == facts[expected_value].subject
            assert facts[expected_value].value == facts[2 + expected_value].subject
        case Kind.YES_NO:
            assert (drawn.answer == "yes") == (facts[-1].value == facts[-2].value)
        case _:
            assert drawn.answer == facts[-1].value
            assert [fact.subject for fact in facts[1:]] == [fact.value for fact in facts[:-1]]


@pytest.mark.parametrize("count", [-1, 4_001])
def test_more_questions_than_the_maximum_are_refused(world: World, count: int) -> None:
    with pytest.raises(ValueError, match=rf"count must be 0 to 4000 .*, not {count}"):
        draw_questions(world, count=count, split="tail")


def test_an_unknown_split_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="split must be head or tail, not 'middle'"):
        draw_questions(world, count=1, split="middle")


def test_a_count_of_zero_gives_no_questions(world: World) -> None:
    assert draw_questions(world, count=0) == []


@pytest.mark.parametrize("style", [-0.1, 1.1])
def test_the_share_of_style_is_from_0_to_1(world: World, style: float) -> None:
    with pytest.raises(ValueError, match=f"style must be 0 to 1, not {style}"):
        draw_questions(world, count=1, style=style)


@pytest.mark.parametrize("kind", Kind)
def test_an_answer_has_one_sentence_per_step_and_the_answer_phrase(
    world: World, kind: Kind
) -> None:
    profile = profile_of("lab")
    films = ListedFilms(world.tail)
    for seed in range(30):
        drawn = draw_question(Random(seed), films, kind)
        for each in (drawn, drawn.plainly()):
            text = f" {each.answer_text(Random(seed))}"
            *reasoning, last = split_sentences(text)
            assert len(reasoning) == len(drawn.facts) + len(drawn.conclusions)
            assert not any(profile.concludes(sentence) for sentence in reasoning)
            assert profile.concludes(last)
            assert profile.extract_answer(text) == drawn.answer


def test_a_plain_answer_is_written_in_one_way(world: World) -> None:
    films = ListedFilms(world.tail)
    for kind in Kind:
        drawn = draw_question(Random(1), films, kind).plainly()
        assert len({drawn.answer_text(Random(seed)) for seed in range(20)}) == 1


def test_a_question_is_of_the_fields_of_the_data_set() -> None:
    fields = list(Question.__dataclass_fields__)
    assert fields == ["id", "question", "answers", "kind", "split", "supports"]
