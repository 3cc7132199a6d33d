"""The labels of the questions of a report's test split, with names for their files."""

import re
from collections.abc import Sequence

from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.statistics.groups import Breakdown, breakdowns
from scaar.evaluator.statistics.selection import RETRIEVALS


def labels_of(analysis: Analysis) -> list[tuple[Breakdown, str]]:
    """Return the groups of every label of the test split, with a file name for the label."""
    found = breakdowns(analysis.splits.test.only((analysis.measure, RETRIEVALS)))
    return list(zip(found, _file_names([each.label for each in found]), strict=True))


def _file_names(labels: Sequence[str]) -> list[str]:
    """The labels as parts of file names, in ASCII letters, digits and underscores."""
    names: list[str] = []
    for label in labels:
        name = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_") or "label"
        taken = names.count(name)
        names.append(f"{name}_{len(names)}" if taken else name)
    return names
