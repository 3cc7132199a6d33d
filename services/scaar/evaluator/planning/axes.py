"""Scorers and indexes as axes of an evaluation: the same policies with each of several."""

from collections.abc import Sequence
from dataclasses import dataclass

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.policies.requirements import needs_retriever, needs_scorer
from scaar.core.types import PolicyRequest
from scaar.core.validation import check_index_name
from scaar.evaluator.planning.settings import setting_of
from scaar.evaluator.records import Setting

ITSELF = "none"
"""The name of the scorer without a control."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The policies, and the names of the scorers and indexes that they are combined with."""

    policies: tuple[PolicyRequest, ...]
    scorers: tuple[str, ...]
    indexes: tuple[str, ...]


def axes_of(settings: Sequence[Setting]) -> Axes:
    """Return the axes whose combinations are the settings.

    Each is without duplicates, in the order of the settings. Without a scorer control and with
    one index, the scorers and the indexes are empty.
    """
    scorers = {each.scorer: None for each in settings if needs_scorer(each.policy)}
    return Axes(
        policies=tuple(dict.fromkeys(each.policy for each in settings)),
        scorers=tuple(each or ITSELF for each in scorers) if any(scorers) else (),
        indexes=tuple(dict.fromkeys(each.index for each in settings if each.index is not None)),
    )


def with_scorers(
    settings: Sequence[Setting], scorers: Sequence[Control | None]
) -> tuple[Setting, ...]:
    """Return each setting that uses the scorer with each control; None is the scorer itself.

    Raises:
        InvalidRequest: a control is named, and no setting uses the scorer.
    """
    if any(scorers) and not any(needs_scorer(each.policy) for each in settings):
        names = ", ".join(dict.fromkeys(each.policy.name for each in settings))
        raise InvalidRequest.of("scorers", f"has no effect on {names}: none uses a scorer")
    return tuple(
        setting_of(each.policy, scorer)
        for each in settings
        for scorer in (scorers if needs_scorer(each.policy) else (None,))
    )


def scorers_named(names: Sequence[str]) -> tuple[Control | None, ...]:
    """Return the controls of these names; None for ``none``, the scorer itself.

    Raises:
        InvalidRequest: a name is unknown or given twice.
    """
    known = (ITSELF, *Control)
    for at, name in enumerate(names):
        if name not in known:
            text = f"there is no scorer {name!r}; known: {', '.join(known)}"
            raise InvalidRequest.of("scorers", text)
        if name in names[:at]:
            raise InvalidRequest.of("scorers", f"{name} is given twice")
    return tuple(None if name == ITSELF else Control(name) for name in names)


def with_indexes(settings: Sequence[Setting], indexes: Sequence[str]) -> tuple[Setting, ...]:
    """Return each setting that retrieves with each of several indexes.

    With fewer than two indexes the settings are returned unchanged.

    Raises:
        InvalidRequest: several indexes are named, and no setting retrieves.
    """
    if len(indexes) < 2:
        return tuple(settings)
    if not any(needs_retriever(each.policy) for each in settings):
        names = ", ".join(dict.fromkeys(each.policy.name for each in settings))
        raise InvalidRequest.of("indexes", f"several have no effect on {names}: none retrieves")
    return tuple(
        setting_of(each.policy, each.scorer, index)
        for each in settings
        for index in (indexes if needs_retriever(each.policy) else (None,))
    )


def check_index_names(indexes: Sequence[str]) -> None:
    """Check that every name is valid for an index and given once.

    Raises:
        InvalidRequest: naming the index.
    """
    for at, name in enumerate(indexes):
        check_index_name(name, field="indexes")
        if name in indexes[:at]:
            raise InvalidRequest.of("indexes", f"{name} is given twice")
