"""The access of a caller to the indexes of an evaluation."""

from collections.abc import Sequence

from scaar.core.access import IndexAccess, both
from scaar.core.errors import InvalidRequest, WrongState
from scaar.core.filters import wrong_filters
from scaar.core.types import Filter
from scaar.evaluator.specification import EvaluationSpec


def readable_filters(access: IndexAccess, indexes: Sequence[str]) -> tuple[Filter, ...]:
    """Return the mandatory filters of the caller on all indexes, which every retrieval has.

    Settings with different indexes thus search the same passages.

    Raises:
        InvalidRequest: the filters of the indexes exceed the limits of a request together.
        NotFound: the caller may not read an index.
    """
    found: tuple[Filter, ...] = ()
    for index in indexes:
        found = both(found, access.mandatory_filters(index))
    if wrong := wrong_filters(found):
        text = f"{wrong[0].description}, with all that the access rules of the caller add"
        raise InvalidRequest.of("indexes", f"the filters {text}: name fewer indexes")
    return found


def require_readable(access: IndexAccess, spec: EvaluationSpec) -> None:
    """Check that the caller may read what the evaluation reads, as for a new evaluation.

    Raises:
        NotFound: the caller may not read an index.
        WrongState: the evaluation lacks a filter that has become mandatory.
    """
    own = {each.index for each in spec.settings if each.index is not None}
    indexes = sorted(own | {spec.index} - {""})
    if both(spec.filters, readable_filters(access, indexes)) != spec.filters:
        text = "the access rules of the evaluation's indexes have changed: create a new evaluation"
        raise WrongState(text)
