"""A comparison of gates, from answered questions to the files of its report."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scaar import __version__
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.plurals import counted
from scaar.encoders.sentence_encoder import SentenceEncoder
from scaar.evaluator.report.files import short_files
from scaar.evaluator.report.model import Report
from scaar.evaluator.store.files import write_texts
from scaar.evaluator.studies.gates import REPEATS
from scaar.evaluator.studies.gates.answered import AnsweredQuestion
from scaar.evaluator.studies.gates.candidates import gates_of
from scaar.evaluator.studies.gates.report import compared, compose
from scaar.evaluator.studies.gates.sample import sample_of
from scaar.evaluator.studies.gates.scenarios import scenarios
from scaar.evaluator.studies.gates.validation import INNER_FOLDS, Progress
from scaar.evaluator.studies.gates.vectors import vectors_of
from scaar.evaluator.studies.tuning.folds import FOLDS

RESAMPLES = 10_000
"""Default number of bootstrap samples: enough for p-values that are corrected for all pairs."""


@dataclass(frozen=True, slots=True)
class GateComparison:
    """The values of a comparison: repetitions of the cross-validation, and bootstrap samples."""

    repeats: int = REPEATS
    resamples: int = RESAMPLES
    seed: int = 0


def compare_gates(
    answered: Sequence[AnsweredQuestion],
    encoder: SentenceEncoder,
    words: WordStatistics,
    out: Path,
    *,
    comparison: GateComparison | None = None,
    progress: Progress = lambda share: None,
) -> Report:
    """Train and compare the gates, and write report.md, report.json and tables/*.csv.

    The same questions and the same encoder give the same numbers.

    Raises:
        InvalidRequest: there are too few questions, or too few of a kind.
        ScaarError: a file cannot be written.
    """
    values = comparison or GateComparison()
    sample = sample_of(answered)
    vectors = vectors_of(encoder, [each.question for each in sample.questions], out)
    gates = gates_of(sample, vectors, words)
    found = [
        compared(each, sample, resamples=values.resamples, seed=values.seed)
        for each in scenarios(sample, gates, repeats=values.repeats, progress=progress)
    ]
    report = compose(
        sample,
        found,
        subtitle=f"{counted(len(sample.questions), 'question')} of {', '.join(sample.sets)}, scaar "
        f"{__version__}",
        made_by=(
            f"Vectors: {encoder.name}, revision {encoder.revision}.",
            f"Words: {words.source}.",
            f"Nested cross-validation: {values.repeats} repetitions, {FOLDS} outer and "
            f"{INNER_FOLDS} inner folds of whole clusters.",
            f"Intervals: 95%, from {values.resamples:,} bootstrap samples of whole clusters, "
            f"seed {values.seed}; those of AUROC, over- and under-retrieval from 1,000.",
        ),
    )
    write_texts(out, short_files(report))
    return report
