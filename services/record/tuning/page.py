"""docs/tuning.md: its head and its parts in order."""

from collections.abc import Sequence
from pathlib import Path

from record.ceiling import pooled
from record.page import Page
from record.sections import Part, PartContent
from record.tuning.comparison import comparison_sentences, comparison_table
from record.tuning.plan import MODELS
from scaar.evaluator.report.analysis import analyse_results
from scaar.evaluator.report.provenance import describe_provenance
from scaar.evaluator.studies.joining.evaluations import read_finished

_HEAD = """\
<!-- Made by make tuning from saved predictions. -->
# Tuned policies of other models

Each model of the lab ships with a [tuned policy](policies.md#tuned-policies), `tuned-1.4`, which \
was chosen on the worlds 11 and 12.
This page compares it with every published policy on worlds that nothing was chosen on; \
[results](results.md) has `lab-lm`.

Every number and every sentence between a command and the next heading is computed from saved \
predictions.
`make tuning` computes the predictions and writes this page.
Run the commands in the project's folder."""


def _comparison(folders: Sequence[Path]) -> PartContent:
    pool = pooled(tuple(folders))
    return PartContent((comparison_table(pool),), sentences=tuple(comparison_sentences(pool)))


def _origin(folders: Sequence[Path]) -> PartContent:
    analysis = analyse_results(read_finished(folders[0]))
    return PartContent(describe_provenance(analysis).items[:1])


PARTS = tuple(
    Part(
        each,
        f"{each}/",
        f"The published policies and the tuned one with `{each}`.",
        _comparison,
    )
    for each in MODELS
)
TUNING = Page("tuning", _HEAD, PARTS, Part("Provenance", f"{MODELS[0]}/", "Of the first.", _origin))
