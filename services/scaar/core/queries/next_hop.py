"""What the question still asks for after some passages are read: the project's own.

A question of several hops asks about an entity that a passage names and the question does not. The
query has the words of the question that no title of a passage read has, each twice, and the words
of the names in those passages, without the words of question and titles. Names are value spans
without digits (:mod:`scaar.core.text.spans`). A word that occurs twice weighs twice as much in a
search by words: a name of the passage is a guess, a word of the question is not.

Before any passage is read, the query is the question.
"""

from collections.abc import Iterable, Iterator

from scaar.core.queries.formulation import Formulated, FormulationRule
from scaar.core.text.entities import entity_text
from scaar.core.text.sentences import split_sentences
from scaar.core.text.spans import value_spans
from scaar.core.text.words import bare_word, split_words
from scaar.core.types import QueryRequest


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the uncovered words of the question, twice, then words of the names read."""
    if not request.read:
        return Formulated()
    question = _words(request.question)
    covered = {bare_word(word) for passage in request.read for word in _words(passage.title)}
    known = {*map(bare_word, question), *covered}
    uncovered = [word for word in question if bare_word(word) not in covered]
    names = list[str]()
    for passage in request.read:
        for word in words_of_names(passage.text):
            if (bare := bare_word(word)) not in known:
                known.add(bare)
                names.append(word)
    return Formulated((*_twice(uncovered), *names)[:room])


def words_of_names(text: str) -> Iterator[str]:
    """Yield the words of the names in a text, in order."""
    for sentence in split_sentences(text):
        words = _words(sentence)
        for span in value_spans(words):
            name = entity_text(words, span)
            if not any(character.isdigit() for character in name):
                yield from name.split()


def _words(text: str) -> list[str]:
    return [word.text for word in split_words(text)]


def _twice(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        yield word
        yield word


NEXT_HOP = FormulationRule(formulate, uses_read_passages=True)
