"""Sentences, words, word classes and searches in German, Spanish, Chinese and Japanese.

The texts are the project's own. docs/languages.md reports these figures.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from scaar.core.loop.contribution import leave_one_out
from scaar.core.text.sentences import SentenceSplitter, split_sentences
from scaar.core.text.word_classes import WordClass, word_classes
from scaar.core.text.words import join_words, split_words
from scaar.core.types import Passage, RetrieveRequest
from scaar.retriever.local.engine import Bm25sRetriever

from ..retriever.conftest import open_engine, retriever, root, stream

__all__ = ["open_engine", "retriever", "root"]

FOLDER = Path(__file__).parent / "texts"
NOT_SPLIT = "!"
"""Marks a text that is not split as a reader expects."""


def lines(file: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file with their languages."""
    language = ""
    for line in (FOLDER / file).read_text().splitlines():
        if line.startswith("["):
            language = line.strip("[]")
        elif line and not line.startswith("#"):
            yield language, line


def counted(languages: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for language in languages:
        found[language] = found.get(language, 0) + 1
    return found


TEXTS = [line for file in ("sentences.txt", "unseen_sentences.txt") for _, line in lines(file)]


@pytest.mark.parametrize("line", TEXTS)
def test_sentences_end_where_a_reader_ends_them_except_in_marked_texts(line: str) -> None:
    marked = line.removeprefix(NOT_SPLIT)
    as_expected = split_sentences(marked.replace("|", "")) == tuple(marked.split("|"))
    assert as_expected != line.startswith(NOT_SPLIT)


@pytest.mark.parametrize(
    ("file", "right", "all_texts"),
    [
        ("sentences.txt", (21, 20, 19, 18), (21, 20, 20, 20)),
        ("unseen_sentences.txt", (7, 6, 9, 8), (10, 10, 10, 10)),
    ],
)
def test_the_documented_number_of_texts_is_split_as_expected(
    file: str, right: tuple[int, ...], all_texts: tuple[int, ...]
) -> None:
    found = list(lines(file))
    assert tuple(counted(language for language, _ in found).values()) == all_texts
    split = (language for language, line in found if not line.startswith(NOT_SPLIT))
    assert tuple(counted(split).values()) == right


@pytest.mark.parametrize("line", TEXTS)
def test_sentences_do_not_depend_on_how_a_text_arrives(line: str) -> None:
    text = line.removeprefix(NOT_SPLIT).replace("|", "")
    splitter = SentenceSplitter()
    sentences = [sentence for character in text for sentence in splitter.feed(character)]
    if rest := splitter.flush():
        sentences.append(rest)
    assert tuple(sentences) == split_sentences(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他死于1951年。", ["他", "死", "于", "1951", "年。"]),
        ("监督是“李安”。", ["监", "督", "是", "“李", "安”。"]),
        ("監督はジョン・スミスです。", ["監", "督", "は", "ジョン・", "スミス", "で", "す。"]),
        ("他看了Titanic (1997) 两遍", ["他", "看", "了", "Titanic", "(1997)", "两", "遍"]),
        ("「」……", ["「」……"]),
        ("Die Frau, 1951", ["Die", "Frau,", "1951"]),
    ],
)
def test_words_without_spaces_are_characters_and_runs_with_their_marks(
    text: str, expected: list[str]
) -> None:
    words = split_words(text)
    assert [word.text for word in words] == expected
    assert all(text[word.start : word.end] == word.text for word in words)


def test_words_are_joined_as_their_language_writes_them() -> None:
    for text in ("他死于1951年。他是导演。", "監督はジョン・スミスです。", "Die Frau starb 1951."):
        assert join_words(word.text for word in split_words(text)) == text


def test_a_contribution_compares_a_chinese_sentence_with_and_without_a_character() -> None:
    words = [word.text for word in split_words("他是导演。")]
    whole, altered = leave_one_out("他是谁？", words)
    assert whole == "他是谁？他是导演。"
    assert altered[2] == "他是谁？他是演。"


@pytest.mark.parametrize(
    ("language", "stop", "function"), [("en", 25, 25), ("de", 2, 24), ("es", 3, 23)]
)
def test_the_tagger_knows_the_function_words_of_english_only(
    language: str, stop: int, function: int
) -> None:
    found = []
    for of_language, line in lines("function_words.txt"):
        if of_language == language:
            words = line.split()
            classes = word_classes([word.lstrip("_") for word in words])
            found += [each for word, each in zip(words, classes, strict=True) if word[0] == "_"]
    assert (found.count(WordClass.STOP), len(found)) == (stop, function)


@pytest.mark.parametrize(("language", "first"), [("de", 10), ("es", 11), ("zh", 12), ("ja", 12)])
async def test_bm25_finds_passages_of_other_languages(
    language: str, first: int, retriever: Bm25sRetriever
) -> None:
    pairs = [
        line.split(" | ") for of_language, line in lines("passages.txt") if of_language == language
    ]
    passages = [Passage(f"p-{at}", "", text) for at, (text, _) in enumerate(pairs)]
    await retriever.index_passages(language, stream(passages))
    queries = tuple(question for _, question in pairs)
    results = (await retriever.retrieve(RetrieveRequest(queries, 1, language))).results
    found = [bool(best) and best[0].id == f"p-{at}" for at, best in enumerate(results)]
    assert (sum(found), len(found)) == (first, 12)
