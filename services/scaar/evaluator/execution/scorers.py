"""Which answerer a setting is asked of: one by the scorer itself, and one by each control."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from scaar.core.controls import Control, control_of, controlled_name
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.ports import Answerer
from scaar.core.types import PolicyRequest, Provenance
from scaar.evaluator.records import Setting

Controls = Mapping[Control, Answerer]
"""The answerers by controls of the scorer."""

NO_CONTROLS: Controls = MappingProxyType({})


def asked_of(setting: Setting, answerer: Answerer, controls: Controls) -> Answerer:
    """The answerer of a setting: the given one, or that of its control."""
    return answerer if setting.scorer is None else controls[setting.scorer]


def check_scorers(settings: Sequence[Setting], made: Mapping[str, Provenance]) -> None:
    """Passes settings of which each is answered by its own scorer, all else being equal.

    An evaluation without a control is asked of whatever scorer there is.

    Raises:
        InvalidRequest: naming every setting that is answered by another scorer or model.
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
            wanted = f"the control {each.scorer}" if each.scorer else "the scorer itself"
            yield Violation("scorer", f"{each.label} wants {wanted}, and is by {found.scorer}")
        elif each.scorer is not None and (other := _other_part(each, found, itself)):
            yield Violation("scorer", f"{each.label} is by another {other} than without control")


def _other_part(
    setting: Setting,
    found: Provenance,
    itself: Mapping[tuple[PolicyRequest, str | None], Provenance],
) -> str:
    """What is not the same as where the scorer itself is asked, where that is asked too."""
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
