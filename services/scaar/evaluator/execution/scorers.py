"""Answerers by scorer: one for the scorer itself, and one for each control."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from scaar.core.controls import Control, control_of, controlled_name
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.ports import Answerer
from scaar.core.types import PolicyRequest, Provenance
from scaar.evaluator.records import Setting

Controls = Mapping[Control, Answerer]
"""The answerers of scorer controls."""

NO_CONTROLS: Controls = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Answerers:
    """The answerer with the scorer itself, and one for each scorer control."""

    answerer: Answerer
    controls: Controls = field(default_factory=dict)


def answerer_for(setting: Setting, answerer: Answerer, controls: Controls) -> Answerer:
    """Return the answerer of a setting: that of its control, or else the given one."""
    return answerer if setting.scorer is None else controls[setting.scorer]


def check_scorers(settings: Sequence[Setting], made: Mapping[str, Provenance]) -> None:
    """Check that every setting is answered with its own scorer, all else being equal.

    An evaluation without controls accepts any scorer.

    Raises:
        InvalidRequest: naming every setting that is answered with another scorer or model.
    """
    if any(each.scorer for each in settings) and (wrong := list(_wrong(settings, made))):
        raise InvalidRequest(wrong)


def _wrong(settings: Sequence[Setting], made: Mapping[str, Provenance]) -> Iterator[Violation]:
    itself = {
        (each.policy, each.index): made[each.label] for each in settings if each.scorer is None
    }
    for each in settings:
        found = made[each.label]
        if found.scorer and control_of(found.scorer) is not each.scorer:
            expected = f"the control {each.scorer}" if each.scorer else "the scorer itself"
            text = f"{each.label} needs {expected}, but is answered with {found.scorer}"
            yield Violation("scorer", text)
        elif each.scorer is not None and (other := _other_part(each, found, itself)):
            text = f"{each.label} has another {other} than the same setting without control"
            yield Violation("scorer", text)


def _other_part(
    setting: Setting,
    found: Provenance,
    itself: Mapping[tuple[PolicyRequest, str | None], Provenance],
) -> str:
    """The part that differs from the same setting without control, if there is one."""
    scorer, own = setting.scorer, itself.get((setting.policy, setting.index))
    if own is None or scorer is None:
        return ""
    if (found.model, found.model_revision) != (own.model, own.model_revision):
        return "model"
    if (found.index, found.index_version) != (own.index, own.index_version):
        return "index"
    same = (controlled_name(own.scorer, scorer), own.scorer_revision)
    if scorer is not Control.IDF and (found.scorer, found.scorer_revision) != same:
        return "scorer"
    return ""
