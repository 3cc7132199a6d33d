"""Whether recall can be measured: questions with supports, and an index that has these."""

from collections.abc import Sequence

from scaar.core.errors import InvalidRequest
from scaar.core.ports import Retriever
from scaar.core.types import RetrieveRequest
from scaar.evaluator.records import Question

_PROBED = 100
"""Questions that look for their own supports, and passages for each."""


def check_supports(questions: Sequence[Question]) -> None:
    """Passes questions of which each names the passages that hold its answer.

    Raises:
        InvalidRequest: naming the first that does not.
    """
    if without := [each.id for each in questions if not each.supports]:
        text = (
            "must say which passages hold the answers, of which recall is measured: "
            f"{len(without):,} of {len(questions):,} questions have no supports, the first "
            f"{without[0]!r}"
        )
        raise InvalidRequest.of("--dataset", text)


async def probe_index(retriever: Retriever, index: str, questions: Sequence[Question]) -> None:
    """Passes an index in which some question finds one of its own supports.

    Raises:
        InvalidRequest: none of the first does: the index has other ids, or other passages.
    """
    some = questions[:_PROBED]
    request = RetrieveRequest(tuple(x.question for x in some), top_k=_PROBED, index=index)
    results = (await retriever.retrieve(request)).results
    for question, passages in zip(some, results, strict=True):
        if {each.id for each in passages} & set(question.supports):
            return
    first = some[0]
    text = (
        f"{index!r} has other passages or ids: none of the first {len(some)} questions finds a "
        f"support of its own among {_PROBED} passages, as {first.id!r} does not find "
        f"{first.supports[0]!r}"
    )
    raise InvalidRequest.of("--index", text)


def check_ids(questions: Sequence[Question], ids: frozenset[str], *, index: str) -> None:
    """Passes an index, by the ids of all its passages, that has every support.

    Raises:
        InvalidRequest: naming the first that it lacks.
    """
    wanted = dict.fromkeys(support for each in questions for support in each.supports)
    if missing := [each for each in wanted if each not in ids]:
        text = (
            f"{index!r} lacks {len(missing):,} of the {len(wanted):,} passages that the questions "
            f"name as supports, the first {missing[0]!r}"
        )
        raise InvalidRequest.of("--index", text)
