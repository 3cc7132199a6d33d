"""The index as an axis of an evaluation: the same policies, retrieving from each of several."""

from collections.abc import Sequence

from scaar.core.errors import InvalidRequest
from scaar.core.policies.needs import needs_retriever
from scaar.evaluator.planning.settings import setting_of
from scaar.evaluator.records import Setting


def with_indexes(settings: Sequence[Setting], indexes: Sequence[str]) -> tuple[Setting, ...]:
    """Each setting that retrieves from each of several indexes; from one they all do anyway.

    Raises:
        InvalidRequest: several are named, and no setting retrieves.
    """
    if len(indexes) < 2:
        return tuple(settings)
    if not any(needs_retriever(each.policy) for each in settings):
        names = ", ".join(dict.fromkeys(each.policy.name for each in settings))
        raise InvalidRequest.of("--index", f"several mean nothing to {names}: none retrieves")
    return tuple(
        setting_of(each.policy, each.scorer, index)
        for each in settings
        for index in (indexes if needs_retriever(each.policy) else (None,))
    )


def check_names(indexes: Sequence[str]) -> None:
    """Passes names of indexes, each given once.

    Raises:
        InvalidRequest: one is empty, or given twice.
    """
    for at, name in enumerate(indexes):
        if not name:
            raise InvalidRequest.of("--index", "must be NAME or NAME,NAME, without an empty name")
        if name in indexes[:at]:
            raise InvalidRequest.of("--index", f"{name} is given twice")
