"""Checks that recall can be measured: questions with supports, and an index that has them."""

from collections.abc import Sequence

from scaar.core.errors import InvalidRequest
from scaar.core.ports import Retriever
from scaar.core.types import RetrieveRequest
from scaar.evaluator.records import Question

_PROBED = 100
"""Number of questions in a probe, and of passages retrieved for each."""


def check_supports(questions: Sequence[Question]) -> None:
    """Check that every question names its supporting passages.

    Raises:
        InvalidRequest: naming the first question without supports.
    """
    if without := [each.id for each in questions if not each.supports]:
        text = (
            "must name the supporting passages, which recall is measured on: "
            f"{len(without):,} of {len(questions):,} questions have no supports, the first "
            f"{without[0]!r}"
        )
        raise InvalidRequest.of("--dataset", text)


async def probe_index(retriever: Retriever, index: str, questions: Sequence[Question]) -> None:
    """Check that a question finds one of its supports in an index.

    Raises:
        InvalidRequest: none of the first questions does: the index has other ids or passages.
    """
    some = questions[:_PROBED]
    request = RetrieveRequest(tuple(x.question for x in some), top_k=_PROBED, index=index)
    results = (await retriever.retrieve(request)).results
    for question, passages in zip(some, results, strict=True):
        if {each.id for each in passages} & set(question.supports):
            return
    first = some[0]
    text = (
        f"{index!r} has other passages or ids: none of the first {len(some)} questions retrieves "
        f"one of its supports among {_PROBED} passages; {first.id!r} does not find "
        f"{first.supports[0]!r}"
    )
    raise InvalidRequest.of("--index", text)


def check_ids(questions: Sequence[Question], ids: frozenset[str], *, index: str) -> None:
    """Check that an index, given the ids of all its passages, has every support.

    Raises:
        InvalidRequest: naming the first support that the index lacks.
    """
    supports = dict.fromkeys(support for each in questions for support in each.supports)
    if missing := [each for each in supports if each not in ids]:
        text = (
            f"{index!r} lacks {len(missing):,} of the {len(supports):,} supports of the questions, "
            f"the first {missing[0]!r}"
        )
        raise InvalidRequest.of("--index", text)
