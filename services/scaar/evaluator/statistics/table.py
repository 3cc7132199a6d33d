"""All scores of an evaluation as one array: settings by columns by questions."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from scaar.core.errors import InvalidRequest
from scaar.core.types import Usage
from scaar.evaluator.records import Decision, Prediction, Question, Score, Setting
from scaar.evaluator.statistics.cost_units import SCORED_SENTENCES

Floats = NDArray[np.float64]
DEFAULT_MEASURES = ("exact_match", "f1")
"""What a set is measured in where no score says it."""

USAGE_COLUMNS = tuple(field.name for field in fields(Usage))
"""Columns that every table has beside the measures: the fields of ``Usage``."""

_usage_of = attrgetter(*USAGE_COLUMNS)

FAILED, MISSING, JUDGED_WORDS, CAPPED_WORDS = "failed", "missing", "judged_words", "capped_words"

(
    SUPPORTS_KNOWN,
    RETRIEVALS_WITH_KNOWN_SUPPORTS,
    RETRIEVALS_WITH_SUPPORT,
    RETRIEVALS_WITH_NEW_SUPPORT,
    SUPPORTS_FOUND,
    ALL_SUPPORTS_FOUND,
    RETRIEVALS_EXCLUDING_SUPPORT,
    RETRIEVALS_LOSING_SUPPORT,
) = LOOKUPS = (
    "supports_known",
    "retrievals_with_known_supports",
    "retrievals_with_support",
    "retrievals_with_new_support",
    "supports_found",
    "all_supports_found",
    "retrievals_excluding_support",
    "retrievals_losing_support",
)
"""Support recall, 0 for questions without known supports: 1 if supports are known; retrievals then;
those that return a support; those that return a new one; the share of supports returned; 1 if all
are returned; retrievals that exclude a support; those of them that return no other support."""

_DECIDED = (JUDGED_WORDS, CAPPED_WORDS, SCORED_SENTENCES, *LOOKUPS)
"""The columns that are counted in the decisions of predictions."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """The scores of questions under settings.

    ``questions`` stand in the order of their entities and ids, whatever order they came in;
    ``clusters`` are the positions at which another entity begins. A prediction that failed or is
    missing scores 0, costs nothing, and stays in the denominator.
    """

    questions: tuple[Question, ...]
    settings: tuple[Setting, ...]
    measures: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats
    clusters: NDArray[np.intp]

    def column(self, name: str) -> Floats:
        """The values of a column: settings by questions."""
        return self.values[:, self.columns.index(name), :]

    def of(self, kept: Sequence[bool]) -> "ScoreTable":
        """The table of some of the questions, every setting and column with them."""
        questions = tuple(q for q, keep in zip(self.questions, kept, strict=True) if keep)
        values = self.values[:, :, np.asarray(kept, dtype=bool)]
        return ScoreTable(
            questions, self.settings, self.measures, self.columns, values, _clusters(questions)
        )

    def only(self, columns: Sequence[str]) -> "ScoreTable":
        """The table with some of its columns."""
        values = self.values[:, [self.columns.index(name) for name in columns], :]
        measures = tuple(name for name in self.measures if name in columns)
        return replace(self, measures=measures, columns=tuple(columns), values=values)


class TableBuilder:
    """Makes a table of scores and predictions as they come, in any order."""

    def __init__(self, questions: Sequence[Question], settings: Sequence[Setting]) -> None:
        """Raises InvalidRequest for no questions, no settings, or one that is there twice."""
        self._questions = tuple(sorted(questions, key=lambda each: (each.entity, each.id)))
        self._settings = tuple(settings)
        self._at = _positions("questions", [each.id for each in self._questions])
        labels = _positions("settings", [each.label for each in self._settings])
        self._scores = {label: array("d") for label in labels}
        self._failed = {label: array("d") for label in labels}
        self._decided = {label: array("d") for label in labels}
        self._measures: tuple[str, ...] | None = None

    def add_score(self, score: Score) -> None:
        """Takes a score; raises InvalidRequest where it is of nothing that is evaluated."""
        if score.values and self._measures is None:
            self._measures = tuple(score.values)
        kept = self._failed if score.failed else self._scores
        rows = self._rows(kept, score.setting, score.question_id)
        rows.append(self._at[score.question_id])
        usage = score.usage
        if usage.searches < usage.retrievals:  # stored before searches were counted
            usage = replace(usage, searches=usage.retrievals)
        rows.extend(_usage_of(usage))
        if not score.failed:
            rows.extend(self._measured(score))

    def add_prediction(self, prediction: Prediction) -> None:
        """Counts the judged words of a prediction and the outcomes of its retrievals."""
        rows = self._rows(self._decided, prediction.setting, prediction.question_id)
        at = self._at[prediction.question_id]
        judged = sum(len(decision.words) for decision in prediction.decisions)
        capped = sum(word.capped for each in prediction.decisions for word in each.words)
        scored = sum(
            any(word.contribution is not None for word in each.words)
            for each in prediction.decisions
        )
        retrieving = (*prediction.rounds, *prediction.decisions)
        brought = lookups_of(self._questions[at], retrieving)
        if judged or any(brought):
            rows.extend((at, judged, capped, scored, *brought))

    def build(self) -> ScoreTable:
        """The table of all that was added."""
        measures = self._measures or DEFAULT_MEASURES
        scored = (*USAGE_COLUMNS, *measures)
        columns = (*scored, FAILED, MISSING, *_DECIDED)
        values = np.zeros((len(self._settings), len(columns), len(self._questions)))
        for each, setting in zip(values, self._settings, strict=True):
            label = setting.label
            answered = self._add(each[: len(scored)], self._scores[label])
            failed = self._add(each[: len(USAGE_COLUMNS)], self._failed[label])
            self._add(each[-len(_DECIDED) :], self._decided[label])
            if (answered + failed > 1).any():
                twice = self._questions[int((answered + failed).argmax())].id
                raise _wrong(f"hold question {twice!r} under setting {label!r} twice")
            each[len(scored)], each[len(scored) + 1] = failed, answered + failed == 0
        if not np.isfinite(values).all():
            raise _wrong("hold a value that is not a number")
        return ScoreTable(
            *(self._questions, self._settings, measures, columns, values),
            clusters=_clusters(self._questions),
        )

    def _measured(self, score: Score) -> Iterable[float]:
        names = self._measures or ()
        if score.values.keys() != set(names):
            raise _wrong(f"have {', '.join(names)}, and one has {', '.join(score.values)}")
        return map(score.values.__getitem__, names)

    def _rows(self, kept: dict[str, "array[float]"], label: str, question: str) -> "array[float]":
        if label not in kept:
            raise _wrong(f"name setting {label!r}, which is none of the evaluation's")
        if question not in self._at:
            raise _wrong(f"name question {question!r}, which is none of the evaluation's")
        return kept[label]

    def _add(self, to: Floats, rows: "array[float]") -> NDArray[np.intp]:
        """Adds rows to their questions' columns, and gives how many rows each question has."""
        found = np.frombuffer(rows, dtype=np.float64).reshape(-1, len(to) + 1)
        at = found[:, 0].astype(np.intp)
        to[:, at] += found[:, 1:].T
        return np.bincount(at, minlength=len(self._questions))


def _positions(field: str, names: Sequence[str]) -> dict[str, int]:
    if not names:
        raise InvalidRequest.of(field, "must be at least one")
    positions = {name: position for position, name in enumerate(names)}
    if len(positions) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidRequest.of(field, f"must differ, and {twice!r} is there twice")
    return positions


def _clusters(questions: Sequence[Question]) -> NDArray[np.intp]:
    starts = [
        at
        for at, each in enumerate(questions)
        if at == 0 or each.entity != questions[at - 1].entity
    ]
    return np.asarray(starts, dtype=np.intp)


def _wrong(description: str) -> InvalidRequest:
    return InvalidRequest.of("scores", description)


def lookups_of(question: Question, decisions: Sequence[Decision]) -> tuple[float, ...]:
    """Return the values of LOOKUPS for an answer."""
    supports = set(question.supports)
    if not supports:
        return (0.0,) * len(LOOKUPS)
    retrievals = [each for each in decisions if each.query is not None]
    found: set[str] = set()
    with_support = with_new = excluding = losing = 0
    for each in retrievals:
        passages = supports.intersection(each.passage_ids)
        excluded = not supports.isdisjoint(each.excluded_ids)
        with_support += bool(passages)
        with_new += bool(passages - found)
        excluding += excluded
        losing += excluded and not passages
        found |= passages
    share = len(found) / len(supports)
    return (1.0, len(retrievals), with_support, with_new, share, share == 1, excluding, losing)
