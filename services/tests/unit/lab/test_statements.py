from random import Random

from scaar.lab.passages import passages_of
from scaar.lab.statements import RELATION_WORDS, STYLE_WORDS, Role, state
from scaar.lab.world import build_world, draw_film


def test_a_statement_holds_its_subject_and_its_value() -> None:
    for seed in range(50):
        film = draw_film(Random(seed))
        for fact in (*film.facts(), *film.director.facts()):
            statement = state(fact, Random(seed))
            assert fact.subject in statement.text
            assert statement.text.endswith(".")
            value = [word.text for word in statement.words if word.role is Role.VALUE]
            assert " ".join(value).removesuffix(".") == fact.value


def test_words_of_style_vary_and_the_others_do_not() -> None:
    (fact, *_) = draw_film(Random(1)).facts()
    texts = {state(fact, Random(seed)).text for seed in range(200)}
    assert len(texts) == 3 * 3 * 2
    style = set(STYLE_WORDS)
    assert (
        len({" ".join(word for word in text.split() if word not in style) for text in texts}) == 1
    )


def test_the_words_of_a_relation_are_marked_as_such() -> None:
    film = draw_film(Random(1))
    for fact in (*film.facts(), *film.director.facts()):
        words = state(fact, Random(2)).words
        marked = [word.text for word in words if word.role is Role.RELATION]
        assert len(marked) == 1
        assert marked[0] in RELATION_WORDS


def test_a_world_has_a_passage_a_film_and_one_a_director_always_the_same() -> None:
    world = build_world(5)
    passages = list(passages_of(world))
    assert passages == list(passages_of(build_world(5)))
    assert len({passage.id for passage in passages}) == len(passages) == 2 * len(world.films)
    for film, about, director in zip(world.films, passages[0::2], passages[1::2], strict=True):
        assert (about.title, director.title) == (film.title, film.director.name)
        assert all(fact.value in about.text for fact in film.facts())
        assert all(fact.value in director.text for fact in film.director.facts())
