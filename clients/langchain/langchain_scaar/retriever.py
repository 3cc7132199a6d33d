"""A retriever over an index of scaar."""

from collections.abc import Mapping, Sequence

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from langchain_scaar.connection import ScaarConnection
from langchain_scaar.passages import url_of
from scaar.client import RetrievedPassage, SearchResult

Filters = Mapping[str, str | Sequence[str]]


class ScaarRetriever(ScaarConnection, BaseRetriever):
    """Return the passages of an index for a query, best first, without generating an answer.

    ``invoke(query, k=5, filters={"lang": "en"})`` overrides the settings for one call. The metadata
    of a document have ``id``, ``title``, ``score``, ``rank``, ``url`` if the passage has one,
    ``index``, ``index_version``, and the metadata of the passage, a list of values by field, as
    ``metadata``.
    """

    index: str = ""
    """Name of the index; empty for the default index of the orchestrator."""
    k: int = Field(default=3, ge=1, le=100)
    """Maximum number of documents."""
    filters: Filters = Field(default_factory=dict)
    """Values that passages must have, by metadata field."""
    url_field: str = "url"
    """Metadata field of passages with their URL."""

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        filters: Filters | None = None,
    ) -> list[Document]:
        with self._opened() as scaar:
            found = scaar.search(
                query, index=self.index, top_k=k or self.k, filters=self._filters(filters)
            )
        return self._documents(found)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        filters: Filters | None = None,
    ) -> list[Document]:
        async with self._aopened() as scaar:
            found = await scaar.search(
                query, index=self.index, top_k=k or self.k, filters=self._filters(filters)
            )
        return self._documents(found)

    def _filters(self, given: Filters | None) -> Filters:
        return self.filters if given is None else given

    def _documents(self, found: SearchResult) -> list[Document]:
        return [self._document(each, found) for each in found.passages]

    def _document(self, passage: RetrievedPassage, found: SearchResult) -> Document:
        metadata = {
            "id": passage.id,
            "title": passage.title,
            "score": passage.score,
            "rank": passage.rank,
            "index": found.index,
            "index_version": found.index_version,
            "metadata": {each.name: list(each.values) for each in passage.metadata},
        }
        if url := url_of(passage, self.url_field):
            metadata["url"] = url
        return Document(page_content=passage.text, id=passage.id, metadata=metadata)
