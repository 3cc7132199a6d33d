"""Statements followed by words without facts, and the questions that request them."""

from random import Random

import pytest

from scaar.lab.free_statements import OTHERS, state_freely, without_others
from scaar.lab.questions import draw_questions
from scaar.lab.reading import read_fact
from scaar.lab.sentences.forms import RATES
from scaar.lab.sentences.free_words import FIXED, OTHER_WORDS
from scaar.lab.statements import state
from scaar.lab.training.free_exercises import FreeBook
from scaar.lab.vocabulary import build_tokenizer, form_words
from scaar.lab.world import build_world

WORLD = build_world(7)


@pytest.mark.parametrize("rate", RATES)
def test_every_fact_is_read_back_from_its_statement_with_other_words(rate: float) -> None:
    random = Random(1)
    for film in WORLD.films[:40]:
        for subject in film.subjects():
            for fact in subject.facts:
                text = state_freely(fact, rate, random).text
                words = text.removesuffix(".").split()
                assert read_fact(text) == fact
                assert without_others(text) == state(fact, None).text.removesuffix(".")
                assert sum(word in OTHER_WORDS for word in words) == OTHERS
                if rate == 0:
                    assert {word for word in words if word in OTHER_WORDS} == set(FIXED)


def test_the_share_of_free_words_is_the_rate() -> None:
    random = Random(2)
    facts = [fact for film in WORLD.films[:50] for fact in film.facts()]
    for rate in RATES:
        texts = [state_freely(fact, rate, random).text for fact in facts]
        words = [word.removesuffix(".") for text in texts for word in text.split()]
        others = [word for word in words if word in OTHER_WORDS]
        free = sum(word not in FIXED for word in others)
        # The lists take turns, so that six words have each of the four once or twice.
        assert free / len(others) == pytest.approx(rate, abs=0.17)


def test_the_questions_are_the_same_at_every_rate_and_say_it() -> None:
    plain = draw_questions(WORLD, count=12)
    for rate, name in zip(RATES, ("no", "little", "some", "full"), strict=True):
        free = draw_questions(WORLD, count=12, freedom=rate)
        assert [each.question for each in free] == [
            f"{each.question} Say it with {name} freedom." for each in plain
        ]
        assert [(each.id, each.answers) for each in free] == [
            (each.id, each.answers) for each in plain
        ]
    with pytest.raises(ValueError, match=r"freedom must be one of 0\.0, 0\.25, 0\.5, 1\.0"):
        draw_questions(WORLD, count=1, freedom=0.3)


def test_the_exercises_have_a_token_for_every_word_and_every_rate() -> None:
    book = FreeBook(WORLD, Random(3))
    tokenizer = build_tokenizer(words=form_words())
    rates = set[str]()
    for _ in range(300):
        exercise = book.draw()
        text = exercise.prompt + "".join(part.text for part in exercise.parts)
        tokens = tokenizer.encode(text).tokens
        assert not [
            token for token in tokens if len(token) == 1 and token.isascii() and token.isalpha()
        ]
        if "freedom" in text:
            rates.add(text.partition(" freedom.")[0].rpartition(" ")[2])
    assert rates == {"no", "little", "some", "full"}
