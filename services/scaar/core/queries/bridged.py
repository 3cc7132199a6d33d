"""PFQ, and the names in the passages that the answer has read: the project's own.

A question of several hops asks about an entity that a passage names and the question does not, such
as the director of a film. The draft is from the model's memory and may name another one; the
passage on the film, which an earlier sentence was written from, names the right one.

The query has the words of ``pfq``, then the names in the *sources* word by word, without words of
the question and repetitions. Sources are the passages read whose title the question contains, or if
there are none, the best passage of each earlier retrieval. Names are value spans without digits
(:mod:`scaar.core.text.spans`). Before any passage is read, the query is that of ``pfq``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scaar.core.queries import pfq
from scaar.core.queries.formulation import Formulated
from scaar.core.text.entities import entity_text
from scaar.core.text.sentences import split_sentences
from scaar.core.text.spans import value_spans
from scaar.core.text.words import bare_word, split_words
from scaar.core.types import QueryRequest, ReadPassage

_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
"""The end of a title that tells it from others, as in "Nosferatu (1922 film)"."""


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the words of ``pfq``, then those of the names in the sources.

    Raises:
        InvalidRequest: a word has no contribution.
    """
    found = pfq.formulate(request, room)
    known = {bare_word(word) for word in request.question.split()}
    added = list[str]()
    for passage in _sources(request.question, request.read):
        for word in _words_of_names(passage.text):
            bare = bare_word(word)
            if bare not in known:
                known.add(bare)
                added.append(word)
    return Formulated((*found.words, *added)[:room], found.kept)


def _sources(question: str, read: Sequence[ReadPassage]) -> list[ReadPassage]:
    """Return the passages whose names are added to the query, in the order they were read."""
    words = f" {_bare(question)} "
    named = [each for each in read if (title := _title(each)) and f" {title} " in words]
    return named or [each for each in read if each.rank == 1]


def _title(passage: ReadPassage) -> str:
    return _bare(_QUALIFIER.sub("", passage.title))


def _bare(text: str) -> str:
    return " ".join(map(bare_word, text.split()))


def _words_of_names(text: str) -> Iterator[str]:
    for sentence in split_sentences(text):
        words = [word.text for word in split_words(sentence)]
        for span in value_spans(words):
            name = entity_text(words, span)
            if not any(character.isdigit() for character in name):
                yield from name.split()


BRIDGED = replace(pfq.PFQ, formulate=formulate, uses_read_passages=True)
