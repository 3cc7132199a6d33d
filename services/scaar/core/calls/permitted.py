"""Access rules of callers, enforced around the ports of the orchestrator."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from scaar.core.access import NO_INDEX, IndexAccess
from scaar.core.errors import InvalidRequest, NotFound, WrongState
from scaar.core.filters import fits
from scaar.core.ports import Answerer, Retriever
from scaar.core.tenancy import proved_access
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    IndexDescription,
    PassageInContext,
    PassageRequest,
    RetrieveRequest,
    RetrieveResult,
)


class PermittedRetriever:
    """A :class:`~scaar.core.ports.Retriever` limited to what the caller of the current call reads.

    Every other index is NOT_FOUND, without a call to the retriever, so that neither the error nor
    its time depends on whether the index exists. The mandatory filters of an index apply to every
    search. Outside of a call with a proved tenant no index can be read.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        access = _access()
        filters = access.filters_with(request.index, request.filters)
        try:
            return await self._retriever.retrieve(replace(request, filters=filters))
        except NotFound as error:
            raise _unlisted(error, request.index, access) from error
        except InvalidRequest as error:
            added = {f"filters[{at}].field" for at in range(len(request.filters), len(filters))}
            if any(each.field in added for each in error.violations):
                raise _undeclared(request.index) from error
            raise

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        """Return a passage; without neighbours that the caller may not read."""
        access = _access()
        mandatory = access.mandatory_filters(request.index)
        try:
            found = await self._retriever.get_passage(request)
        except NotFound as error:
            if "passage" in error.metadata:
                raise
            raise _unlisted(error, request.index, access) from error
        if not fits(found.passage.metadata, mandatory):
            raise NotFound.of_passage(request.index, request.id)
        previous, following = (
            other if other is not None and fits(other.metadata, mandatory) else None
            for other in (found.previous, found.next)
        )
        return replace(found, previous=previous, next=following)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        access = _access()
        found = await self._retriever.list_indexes()
        return tuple(each for each in found if access.may_read(each.name))

    async def describe_index(self, index: str) -> IndexDescription:
        access = _access()
        mandatory = access.mandatory_filters(index)
        try:
            found = await self._retriever.describe_index(index)
        except NotFound as error:
            raise _unlisted(error, index, access) from error
        if any(each.field not in found.metadata_fields for each in mandatory):
            raise _undeclared(index)
        return found


class PermittedAnswerer:
    """An :class:`~scaar.core.ports.Answerer` over a loop with a :class:`PermittedRetriever`.

    Rejects a request whose filters exceed the limits together with the mandatory ones, before any
    work. Requests for other indexes are left to the retriever, since some policies need none.
    """

    def __init__(self, answerer: Answerer, *, default_index: str = "") -> None:
        self._answerer = answerer
        self._default_index = default_index

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        access, index = _access(), request.index or self._default_index
        if access.may_read(index):
            access.filters_with(index, request.filters)
        async with aclosing(self._answerer.stream_answer(request)) as events:
            async for event in events:
                yield event


def _access() -> IndexAccess:
    access = proved_access()
    return NO_INDEX if access is None else access


def _unlisted(error: NotFound, index: str, access: IndexAccess) -> NotFound:
    """Return the error for a missing index, without the names of indexes of others."""
    return error if access.reads_every_index else access.not_found(index)


def _undeclared(index: str) -> WrongState:
    return WrongState(
        f"the index {index!r} lacks a metadata field by which the access rules of the caller "
        "filter its passages: build the index with this field, or correct the rules",
        index=index,
    )
