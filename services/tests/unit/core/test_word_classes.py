from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text import word_classes as module
from scaar.core.text.word_classes import WordClass, word_classes


def of_class(text: str, kind: WordClass) -> list[str]:
    words = text.split()
    classes = word_classes(words)
    return [word for word, each in zip(words, classes, strict=True) if each is kind]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (
            "The director of the film Nosferatu is F.W. Murnau.",
            "director film Nosferatu F.W. Murnau.",
        ),
        ("She was born in Paris, on 3 May 1907.", "born Paris, 3 May 1907."),
        ("It had been released (1995 film) by Coolie No. 1!", "released (1995 film) Coolie No. 1!"),
        ("Hamlet's author did not write the old play", "Hamlet's author write old play"),
        (
            "It won 2 prizes in 4 years, and 3.5 times the 1,000",
            "won 2 prizes 4 years, 3.5 times 1,000",
        ),
        ("Żuławski has directed 15,140 people", "Żuławski directed 15,140 people"),
    ],
)
def test_content_words_are_nouns_adjectives_verbs_names_and_numbers(
    text: str, content: str
) -> None:
    assert of_class(text, WordClass.CONTENT) == content.split()


def test_stop_words_are_of_the_closed_classes_or_no_words_at_all() -> None:
    text = "The man , who could not have been there , is with her - and of which she would know it"
    stops = of_class(text, WordClass.STOP)
    assert set(text.split()) - set(stops) == {"man", "know"}


def test_adverbs_are_neither() -> None:
    assert of_class("She quickly left the house", WordClass.OTHER) == ["quickly"]


def test_a_verb_that_helps_no_other_is_a_stop_word_all_the_same() -> None:
    assert of_class("Ada is Byron", WordClass.STOP) == ["is"]


def test_no_words_have_no_classes() -> None:
    assert word_classes(()) == ()


@given(st.lists(st.text(min_size=1, max_size=8).filter(lambda text: not text.isspace())))
def test_any_word_has_a_class(words: list[str]) -> None:
    assert len(word_classes(words)) == len(words)


def test_the_lexicon_is_read_once_where_several_want_it_at_the_same_time() -> None:
    module._loaded_tagger.cache_clear()
    with ThreadPoolExecutor(4) as threads:
        for loading in [threads.submit(module.load) for _ in range(4)]:
            loading.result()
    assert module._loaded_tagger.cache_info().misses == 1
