"""Comparison of two evaluations of the same questions, setting by setting."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Score
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.summary import main_measure
from scaar.evaluator.statistics.estimate import Corrected, Estimate, difference, differences
from scaar.evaluator.statistics.means import resampled_means
from scaar.evaluator.statistics.table import Floats, ScoreTable, TableBuilder

COMPARED = ("retrievals", "generated_tokens", "latency_ms")
"""The columns of the usage that are compared besides the main measure."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A setting of both evaluations: the second one minus the first, on the same questions.

    ``difference`` is that of the main measure, corrected for the number of compared settings, and
    ``usage`` has those of :data:`COMPARED`.
    """

    setting: str
    before: float
    after: float
    difference: Corrected
    usage: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The settings of both evaluations, compared, and the settings of only one of them."""

    measure: str
    questions: int
    compared: tuple[Compared, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def compare(
    before: Results, after: Results, *, scores: tuple[Iterable[Score], Iterable[Score]]
) -> Comparison:
    """Compare the settings with the same label on the questions with the same ids.

    If each evaluation has a single setting, these two are compared whatever their labels.

    Raises:
        InvalidRequest: the evaluations share no question or no setting, or an id has different
            questions.
    """
    shared = _shared_questions(before, after)
    pairs = _pairs(before, after)
    kept = tuple(each for each in before.questions if each.id in shared)
    table = _both(before, after, scores, kept=shared, pairs=pairs)
    measure = main_measure(table)
    means = resampled_means(table, seed=before.evaluation.dataset.seed)
    count = len(pairs)

    def gained(name: str, at: int) -> Floats:
        return means.of(name)[:, count + at] - means.of(name)[:, at]

    compared = []
    tested = differences(gained(measure, at) for at in range(count))
    for at, ((label, other), found) in enumerate(zip(pairs, tested, strict=True)):
        name = label if label == other else f"{label} -> {other}"
        first, second = (float(means.of(measure)[0, each]) for each in (at, count + at))
        usage = tuple(difference(gained(column, at)) for column in COMPARED)
        compared.append(Compared(name, first, second, found, usage))
    firsts, seconds = ({pair[side] for pair in pairs} for side in (0, 1))
    return Comparison(
        measure=measure,
        questions=len(kept),
        compared=tuple(compared),
        only_before=tuple(each for each in _labels(before) if each not in firsts),
        only_after=tuple(each for each in _labels(after) if each not in seconds),
    )


def _shared_questions(before: Results, after: Results) -> frozenset[str]:
    known = {each.id: each for each in before.questions}
    shared = [each for each in after.questions if each.id in known]
    for each in shared:
        if (each.question, each.answers) != (known[each.id].question, known[each.id].answers):
            text = f"question {each.id!r} has another text or other answers than in A"
            raise InvalidRequest.of("B", text)
    if not shared:
        raise InvalidRequest.of("B", "has no question of A")
    return frozenset(each.id for each in shared)


def _pairs(before: Results, after: Results) -> list[tuple[str, str]]:
    firsts, seconds = _labels(before), _labels(after)
    if same := [(label, label) for label in firsts if label in seconds]:
        return same
    if len(firsts) == len(seconds) == 1:
        return [(firsts[0], seconds[0])]
    text = f"has no setting of A: {', '.join(seconds)} there, and {', '.join(firsts)} in A"
    raise InvalidRequest.of("B", text)


def _both(
    before: Results,
    after: Results,
    scores: tuple[Iterable[Score], Iterable[Score]],
    *,
    kept: frozenset[str],
    pairs: Sequence[tuple[str, str]],
) -> ScoreTable:
    """One table of the shared questions: the settings of the first, then those of the second."""
    questions = tuple(each for each in before.questions if each.id in kept)
    settings = []
    for side, results in enumerate((before, after)):
        by_label = {each.label: each for each in results.evaluation.settings}
        for pair in pairs:
            settings.append(replace(by_label[pair[side]], label=_named(side, pair[side])))
    builder = TableBuilder(questions, settings)
    for side, some in enumerate(scores):
        labels = {pair[side] for pair in pairs}
        for score in some:
            if score.question_id in kept and score.setting in labels:
                builder.add_score(replace(score, setting=_named(side, score.setting)))
    return builder.build()


def _named(side: int, label: str) -> str:
    return f"{'AB'[side]} {label}"


def _labels(results: Results) -> list[str]:
    return [each.label for each in results.evaluation.settings]
