"""PFQ, and the names in the passages that the answer has read: the project's own.

A question of several hops asks about an entity that a passage names and the question does not, such
as the director of a film. The draft is from the model's memory and may name another one; the
passage on the film, which an earlier sentence was written from, names the right one.

The query has the words of ``pfq``, then the names in the *sources* word by word, without words of
the question and repetitions. Sources are the passages read whose title the question contains, or if
there are none, the best passage of each earlier retrieval. Names are value spans without digits
(:mod:`scaar.core.text.spans`). Before any passage is read, the query is that of ``pfq``.
"""

from collections.abc import Sequence
from dataclasses import replace

from scaar.core.queries import pfq
from scaar.core.queries.formulation import Formulated
from scaar.core.queries.next_hop import words_of_names
from scaar.core.text.mentions import Mentions
from scaar.core.text.words import bare_word
from scaar.core.types import QueryRequest, ReadPassage


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the words of ``pfq``, then those of the names in the sources.

    Raises:
        InvalidRequest: a word has no contribution.
    """
    found = pfq.formulate(request, room)
    known = {bare_word(word) for word in request.question.split()}
    added = list[str]()
    for passage in _sources(request.question, request.read):
        for word in words_of_names(passage.text):
            bare = bare_word(word)
            if bare not in known:
                known.add(bare)
                added.append(word)
    return Formulated((*found.words, *added)[:room], found.kept)


def _sources(question: str, read: Sequence[ReadPassage]) -> list[ReadPassage]:
    """Return the passages whose names are added to the query, in the order they were read."""
    mentions = Mentions(question)
    named = [passage for passage in read if mentions.have(passage.title)]
    return named or [passage for passage in read if passage.rank == 1]


BRIDGED = replace(pfq.PFQ, formulate=formulate, uses_read_passages=True)
