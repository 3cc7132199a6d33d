from random import Random

import pytest

from scaar.core.prompts import profile_of
from scaar.core.sentences import split_sentences
from scaar.lab.passages import passages_of
from scaar.lab.questions import RELATIONS, Question, ask, draw_questions
from scaar.lab.world import World, build_world


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(2000)


def test_the_same_world_has_the_same_questions_and_more_of_them_go_on(world: World) -> None:
    drawn = draw_questions(world, count=20, split="tail")
    assert draw_questions(build_world(2000), count=20, split="tail") == drawn
    assert draw_questions(world, count=50, split="tail")[:20] == drawn


def test_the_two_splits_alternate_where_none_is_asked_for(world: World) -> None:
    drawn = draw_questions(world, count=20)
    assert drawn[0::2] == draw_questions(world, count=10, split="head")
    assert drawn[1::2] == draw_questions(world, count=10, split="tail")


def test_questions_are_distinct_and_of_both_kinds(world: World) -> None:
    drawn = draw_questions(world, count=1_000)
    assert len({question.id for question in drawn}) == 1_000
    assert {question.kind for question in drawn} == {"one_hop", "two_hop"}


def test_worlds_ask_other_questions_of_their_tails(world: World) -> None:
    def asked(of: World) -> set[str]:
        return {question.question for question in draw_questions(of, count=500, split="tail")}

    assert len(asked(world) & asked(build_world(2001))) < 50


def test_popular_films_are_asked_of_more_often(world: World) -> None:
    ranks = [
        int(question.id.split("-")[1])
        for question in draw_questions(world, count=1_000, split="head")
    ]
    assert sum(rank < 100 for rank in ranks) > sum(rank >= 700 for rank in ranks)


def test_the_supports_hold_the_facts_of_the_answer(world: World) -> None:
    passages = {passage.id: passage for passage in passages_of(world)}
    for question in draw_questions(world, count=300):
        texts = [passages[support].text for support in question.supports]
        assert len(texts) == (1 if question.kind == "one_hop" else 2)
        assert question.answers[0] in texts[-1]
        if question.kind == "two_hop":
            assert passages[question.supports[1]].title in texts[0]


@pytest.mark.parametrize("count", [-1, 4_001])
def test_more_questions_than_there_are_are_refused_with_the_limit(world: World, count: int) -> None:
    with pytest.raises(ValueError, match=rf"count must be 0 to 4000 .*, not {count}"):
        draw_questions(world, count=count, split="tail")


def test_an_unknown_split_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="split must be head or tail, not 'middle'"):
        draw_questions(world, count=1, split="middle")


def test_no_question_is_no_question(world: World) -> None:
    assert draw_questions(world, count=0) == []


@pytest.mark.parametrize("relation", RELATIONS)
def test_an_answer_is_a_sentence_a_fact_and_the_phrase_that_the_core_reads(
    world: World, relation: str
) -> None:
    profile = profile_of("lab")
    for seed, film in enumerate(world.tail[:20]):
        asked = ask(film, relation)
        text = f" {asked.answer_text(Random(seed))}"
        *reasoning, last = split_sentences(text)
        assert len(reasoning) == len(asked.facts)
        assert not any(profile.concludes(sentence) for sentence in reasoning)
        assert profile.concludes(last)
        assert profile.extract_answer(text) == asked.answer


def test_a_question_is_of_the_fields_of_the_data_set() -> None:
    fields = list(Question.__dataclass_fields__)
    assert fields == ["id", "question", "answers", "kind", "split", "supports"]
