"""An evaluation as it was asked of the service: checked, drawn and planned."""

from dataclasses import dataclass

from scaar.evaluator.records import Setting
from scaar.evaluator.results import DatasetOrigin


@dataclass(frozen=True, slots=True)
class Asked:
    """What makes two requests the same: the questions by their checksum, and all that is asked.

    ``index`` is empty where no setting retrieves and none is known.
    """

    dataset: DatasetOrigin
    settings: tuple[Setting, ...]
    index: str
    timeout_s: float
