"""Conversations about a world: who a pronoun means, and what needs no rewriting."""

from random import Random

import pytest

from scaar.lab.questions import ListedFilms, NewFilms
from scaar.lab.questions.conversations import (
    FOLLOW_UPS,
    WORDS,
    Turn,
    draw_conversation,
    follow_up,
)
from scaar.lab.questions.one_hop import TEMPLATES
from scaar.lab.tags import TURN_TAGS
from scaar.lab.training.conversation_exercises import ConversationBook
from scaar.lab.vocabulary import build_tokenizer
from scaar.lab.world import FILM_RELATIONS, Fact, build_world, draw_film

WORLD = build_world(1041, tail_films=40)


def conversations(count: int, turns: int = 3) -> list[tuple[Turn, ...]]:
    random, films = Random(1), ListedFilms(WORLD.tail)
    return [draw_conversation(random, films, turns) for _ in range(count)]


def test_a_conversation_begins_with_a_standalone_question() -> None:
    for talk in conversations(200):
        assert len(talk) == 3
        assert not talk[0].follows


def test_it_is_the_film_named_last_and_she_or_he_the_person() -> None:
    for talk in conversations(300):
        film, person = "", ""
        for turn in talk:
            (fact,) = turn.drawn.facts
            of_film = fact.relation in FILM_RELATIONS
            if turn.follows:
                assert fact.subject == (film if of_film else person)
                assert fact.subject not in turn.spoken
            if of_film:
                film = fact.subject
            if fact.relation in ("director", "star", "father", "mother", "spouse"):
                person = fact.value


def test_a_follow_up_asks_for_nothing_that_was_asked_before() -> None:
    for talk in conversations(300):
        for place, turn in enumerate(talk):
            before = [each.standalone for each in talk[:place]]
            assert not (turn.follows and turn.standalone in before)


def test_some_later_questions_need_no_rewriting() -> None:
    later = [turn for talk in conversations(300) for turn in talk[1:]]
    kept = sum(not turn.follows for turn in later) / len(later)
    assert 0.1 < kept < 0.3


def test_every_relation_has_a_follow_up() -> None:
    assert set(FOLLOW_UPS) == set(TEMPLATES)


@pytest.mark.parametrize(
    ("name", "others"), [("Albel Aldahl", {"he", "his"}), ("Aldan Aldahl", {"she", "her"})]
)
def test_a_person_has_the_same_pronoun_in_every_follow_up(name: str, others: set[str]) -> None:
    spoken = [follow_up(Fact(name, relation, "x")) for relation in TEMPLATES]
    words = {word.strip("?") for text in spoken for word in text.split()}
    assert len({"she", "her", "he", "his"} & words) == 2
    assert not others & words


@pytest.mark.parametrize("word", [*WORDS, *TURN_TAGS])
def test_pronouns_and_roles_are_tokens_of_the_chat_model(word: str) -> None:
    tokenizer = build_tokenizer(tags=TURN_TAGS, words=WORDS)
    text = word if word in TURN_TAGS else f" {word}"
    assert len(tokenizer.encode(text, add_special_tokens=False).tokens) == 1


def test_the_chat_model_has_the_tokens_of_its_base_with_the_same_ids() -> None:
    base = build_tokenizer().get_vocab()
    assert base.items() <= build_tokenizer(tags=TURN_TAGS, words=WORDS).get_vocab().items()


def test_exercises_rewrite_and_answer() -> None:
    book = ConversationBook(WORLD, Random(2))
    drawn = [book.draw() for _ in range(100)]
    rewriting = [each for each in drawn if each.prompt.endswith("Standalone question:")]
    assert 55 <= len(rewriting) <= 95
    assert all(each.parts[0].text.endswith("?") and each.ends for each in rewriting)
    assert any(each.prompt.endswith("Answer:") for each in drawn)


def test_a_conversation_can_be_about_films_that_are_drawn_for_it() -> None:
    random = Random(3)
    talk = draw_conversation(random, NewFilms(lambda: draw_film(random)))
    assert [len(turn.drawn.facts) for turn in talk] == [1, 1, 1]
