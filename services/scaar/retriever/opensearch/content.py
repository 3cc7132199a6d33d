"""Content of an index on OpenSearch, from which its version is computed."""

import hashlib
import json
from collections.abc import Sequence

from scaar.core.types import DenseDescription
from scaar.retriever.content import PassageSum
from scaar.retriever.local.manifest import dense_parts

ANALYZER = "opensearch-english-1"
"""Part of the version. Increment it when :mod:`scaar.retriever.opensearch.schema` changes."""


class Content(PassageSum):
    """Digest of an index's passages. Their order has no effect on OpenSearch: ties sort by id."""

    def version(
        self,
        *,
        k1: float,
        b: float,
        fields: Sequence[str] = (),
        dense: DenseDescription | None = None,
    ) -> str:
        """Return the version of an index of these passages. Equal versions give equal results."""
        parts: list[object] = [ANALYZER, k1, b, self.passages, self.total]
        if fields:
            parts.append(list(fields))
        if dense:
            parts.append(dense_parts(dense))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
