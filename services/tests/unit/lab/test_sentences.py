"""Test that sentence forms have the words, facts and distributions that they state."""

import math
from collections import Counter
from random import Random

import pytest

from scaar.lab import names
from scaar.lab.sentences import (
    FORMS,
    FilmFacts,
    SentenceForm,
    WordKind,
    draw_form_questions,
    parse_form,
    read_sentence,
    state_facts,
)
from scaar.lab.sentences.free_words import FREE_LISTS, LISTS, OTHER_WORDS, distribution
from scaar.lab.sentences.questions import draw_facts, form_question
from scaar.lab.training.meaning_pairs import build_meaning_tokenizer, draw_meaning_pair
from scaar.lab.training.sentence_exercises import SentenceBook
from scaar.lab.vocabulary import build_tokenizer, form_words, vocabulary
from scaar.lab.world import Relation, World, build_world

SEED = 1001


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(SEED)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_sentence_has_the_words_and_facts_of_its_form(form: SentenceForm, world: World) -> None:
    facts = FilmFacts.of(world)
    for number, film in enumerate(world.films[::80]):
        stated = draw_facts(film, form, Random(number))
        sentence = state_facts(stated, form, Random(number))
        assert len(sentence.text.split()) == form.words
        assert sentence.facts == stated
        read = read_sentence(f" {sentence.text}")
        assert read is not None
        assert read.facts == stated
        assert read.words == sentence.words
        assert facts.labels(read) == (True,) * form.facts


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_share_of_free_words_is_the_rate_of_the_form(form: SentenceForm, world: World) -> None:
    drawn = [
        state_facts(draw_facts(film, form, Random(1)), form, Random(2)) for film in world.known[:40]
    ]
    for sentence in drawn:
        kinds = Counter(word.kind for word in sentence.words)
        spare = kinds[WordKind.FREE] + kinds[WordKind.FIXED] - 1  # the verb is fixed
        assert abs(kinds[WordKind.FREE] - form.free * spare) <= 1
    if form.padded:
        for sentence in drawn:
            last_value = max(
                at for at, word in enumerate(sentence.words) if word.kind is WordKind.VALUE
            )
            assert all(
                word.kind in (WordKind.FREE, WordKind.FIXED)
                for word in sentence.words[last_value + 1 :]
            )


def test_the_surprisal_of_free_words_is_that_of_their_distributions(world: World) -> None:
    form = SentenceForm(25, 1, 1.0)
    film = world.known[0]
    noun = film.title.split()[-1]
    facts = draw_facts(film, form, Random(0))
    drawn = [state_facts(facts, form, Random(number)) for number in range(2_000)]
    first = Counter(
        next(word for word in each.words if word.kind is WordKind.FREE) for each in drawn
    )
    likely = distribution(0, noun, noun)
    assert math.fsum(likely.values()) == pytest.approx(1.0)
    for word, count in first.items():
        probability = likely[word.text]
        assert word.surprisal == pytest.approx(-math.log(probability))
        error = math.sqrt(probability * (1 - probability) / len(drawn))
        assert abs(count / len(drawn) - probability) < 5 * error
    mean = math.fsum(each.style_surprisal for each in drawn) / len(drawn)
    assert mean > 10 * -sum(p * math.log(p) for p in likely.values()) / 2
    assert all(
        word.surprisal == 0 for each in drawn for word in each.words if word.kind != WordKind.FREE
    )


def test_free_words_depend_on_the_film_and_on_the_free_word_before() -> None:
    after = {tuple(distribution(1, "Mirror", word)) for word in LISTS[0]}
    assert len(after) == len(LISTS[0])
    likeliest = {max(distribution(1, noun, "surely").values()) for noun in names.TITLE_NOUNS}
    assert min(likeliest) < 0.1
    assert max(likeliest) > 0.6


def test_every_rate_frees_whole_lists() -> None:
    assert {rate: len(lists) / len(LISTS) for rate, lists in FREE_LISTS.items()} == {
        rate: rate for rate in FREE_LISTS
    }
    assert len(OTHER_WORDS) == sum(map(len, LISTS)) + len(LISTS), "no word is in two lists"


def test_a_sentence_is_labelled_by_each_of_its_facts(world: World) -> None:
    facts = FilmFacts.of(world)
    film, other = world.known[:2]
    assert other.star != film.star
    for star, right in ((film.star, True), (other.star, False)):
        read = read_sentence(
            f"{film.title} also was then by {film.director.name} with {star} there."
        )
        assert read is not None
        assert [fact.relation for fact in read.facts] == [Relation.DIRECTOR, Relation.STAR]
        assert facts.labels(read) == (True, right)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The Iron Sea was.",
        "The Iron Sea was also then.",
        "The Iron Sea was by Ann.",
        "The Iron Sea was with Ann Lee by Ann Lee.",
        "The Iron Sea was warmly unheard by Ann Lee.",
        "So the answer is Elport.",
    ],
)
def test_a_sentence_of_no_form_is_not_read(text: str) -> None:
    assert read_sentence(text) is None


def test_a_form_is_parsed_from_its_name() -> None:
    assert [parse_form(form.name) for form in FORMS] == list(FORMS)
    assert len(set(FORMS)) == len(FORMS)
    assert parse_form("12/1/0.5/padded") == SentenceForm(12, 1, 0.5, padded=True)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("12", "a form is WORDS/FACTS/RATE"),
        ("12/1/0.5/long", "a form is WORDS/FACTS/RATE"),
        ("12/1/0.5/padded/padded", "a form is WORDS/FACTS/RATE"),
        ("13/1/0.5", "words must be one of 7, 12, 18, 25, not 13"),
        ("12/4/0.5", "facts must be one of 1, 2, 3, not 4"),
        ("12/1/nan", "free must be one of 0, 0.25, 0.5, 1, not nan"),
        ("7/3/0", "3 facts need at least 12 words, not 7"),
    ],
)
def test_a_wrong_form_is_rejected(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        parse_form(text)


def test_questions_of_a_form_are_determined_by_the_seed(world: World) -> None:
    form = parse_form("18/2/1")
    drawn = draw_form_questions(world, form, count=20)
    assert draw_form_questions(build_world(SEED), form, count=20) == drawn
    assert [question.split for question in drawn[:4]] == ["head", "tail"] * 2
    for question in drawn:
        read = read_sentence(question.answers[0])
        assert read is not None
        assert read.facts == question.facts
        assert question.question == form_question(question.facts, form)
        subject = question.facts[0].subject
        assert f"{subject} in 18 words with full freedom." in question.question
    with pytest.raises(ValueError, match="split must be head or tail, not 'middle'"):
        draw_form_questions(world, form, count=1, split="middle")
    with pytest.raises(ValueError, match="count must be at least 0"):
        draw_form_questions(world, form, count=-1)


def test_every_word_of_an_exercise_is_one_token(world: World) -> None:
    tokenizer = build_tokenizer(forms=True)
    book = SentenceBook(world, Random(1), unknown=0.2)
    for _ in range(300):
        exercise = book.draw()
        for text in (exercise.prompt, exercise.answer):
            expected = text.replace(".", " .").replace(":", " :").split()
            encoded = tokenizer.encode(text)
            pieces = [text[start:end].strip() for start, end in encoded.offsets[1:]]
            assert [piece for piece in pieces if piece] == expected


def test_the_words_of_forms_follow_the_default_vocabulary() -> None:
    assert vocabulary(form_words())[: len(vocabulary())] == vocabulary()


def test_pairs_of_meanings_share_no_word_with_sentence_forms(world: World) -> None:
    random = Random(1)
    pairs = [draw_meaning_pair(random) for _ in range(2_000)]
    theirs = _words(text for pair in pairs for text in (pair.text, pair.altered))
    drawn = [question for form in FORMS for question in draw_form_questions(world, form, count=20)]
    ours = _words(text for each in drawn for text in (each.question, *each.answers))
    listed = (names.FIRST_NAMES, names.LAST_NAMES, names.TITLE_ADJECTIVES, names.TITLE_NOUNS)
    ours |= OTHER_WORDS | set(names.YEARS) | {word for each in listed for word in each}
    # Numbers of words in questions may be amounts in pairs.
    assert not theirs & ours - {"7", "12", "18", "25"}
    assert {pair.similarity for pair in pairs} == {0.0, 1.0}


def test_a_word_of_a_meaning_pair_is_its_first_character_and_its_last_two() -> None:
    tokenizer = build_meaning_tokenizer()
    encoded = tokenizer.encode("Yavek Daford was by purportedly 1951.")
    expected = "▁Y ek ▁D rd ▁w as ▁b y ▁p ly ▁1 51 .".split()
    assert encoded.tokens[1:-1] == expected
    random = Random(1)
    for _ in range(300):
        assert "<unk>" not in tokenizer.encode(draw_meaning_pair(random).text).tokens


def _words(texts: object) -> set[str]:
    return {word.strip(".,") for text in texts for word in text.split()}  # type: ignore[attr-defined]
