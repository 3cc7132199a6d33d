"""What an index on OpenSearch holds, and the version that this makes."""

import hashlib
import json
from collections.abc import Sequence

from scaar.core.types import DenseDescription
from scaar.retriever.content import PassageSum
from scaar.retriever.manifest import dense_parts

ANALYZER = "opensearch-english-1"
"""Goes into the version; a change of :mod:`scaar.retriever.opensearch_schema` makes it another."""


class Content(PassageSum):
    """The passages of an index. On OpenSearch their order decides nothing: ties go by id."""

    def version(
        self,
        *,
        k1: float,
        b: float,
        fields: Sequence[str] = (),
        dense: DenseDescription | None = None,
    ) -> str:
        """The version of an index of these passages: equal versions give equal results."""
        parts: list[object] = [ANALYZER, k1, b, self.passages, self.total]
        if fields:
            parts.append(list(fields))
        if dense:
            parts.append(dense_parts(dense))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
