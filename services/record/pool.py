"""Evaluations of several worlds as one table: every question counts, nothing is chosen on them.

The evaluations of a world differ in their settings, and those of an evaluation's kind agree in them
over the worlds, up to thetas that are placed at quantiles of trigger scores. A system is a policy
variant of one kind of evaluation, and its settings are the points of its frontier. Between two
neighbouring points, scores and costs are interpolated at a budget in every bootstrap sample.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.evaluator.oracles import PLANNED, oracle_parts
from scaar.evaluator.records import Question, Score, Setting
from scaar.evaluator.report.cells import estimated
from scaar.evaluator.report.model import Cell
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.budgeted import BUDGETED, budgeted_settings
from scaar.evaluator.scoring.detection import JudgedDraftsBuilder
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.scoring.summary import main_measure
from scaar.evaluator.statistics.estimate import estimate
from scaar.evaluator.statistics.frontier import score_at
from scaar.evaluator.statistics.means import Means, resampled_means
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.table import Floats, ScoreTable, TableBuilder
from scaar.evaluator.statistics.variants import variant_name
from scaar.evaluator.studies.joining.evaluations import read_finished

TUNED = "tuned"
"""Kind of the evaluations of a tuned policy by its name, and of its settings at several thetas."""
Spent = Callable[[Means], Floats]
"""What each setting spends: samples by settings."""


def searches(means: Means) -> Floats:
    """Return the searches per question of every setting."""
    return means.of(RETRIEVALS)


@dataclass(frozen=True, slots=True)
class System:
    """A policy variant of one kind of evaluation, with the positions of its settings."""

    kind: str
    name: str
    settings: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The scores of all worlds; ``drafts`` are the judged drafts."""

    table: ScoreTable
    systems: tuple[System, ...]
    measure: str
    means: Means
    drafts: JudgedDraftsBuilder

    def system(self, kind: str, name: str) -> System | None:
        """Return the system of a kind and a name, or None."""
        found = (each for each in self.systems if (each.kind, each.name) == (kind, name))
        return next(found, None)

    def at(self, system: System, budget: float, column: str, *, spent: Spent = searches) -> Floats:
        """Return the mean of a column at a budget; not a number out of range.

        An oracle whose largest budget is smaller leaves the rest of the budget unused.
        """
        places = list(system.settings)
        costs, scores = spent(self.means)[:, places], self.means.of(column)[:, places]
        found = score_at(costs, scores, np.ones(costs.shape, dtype=bool), at=budget)
        if system.name.startswith(BUDGETED):
            last = costs.argmax(axis=1)[:, np.newaxis]
            end = np.take_along_axis(scores, last, axis=1)[:, 0]
            found = np.where(costs.max(axis=1) < budget, end, found)
        return found

    def of(self, setting: int, column: str) -> Floats:
        """Return the mean of a column for a setting."""
        return self.means.of(column)[:, setting]

    def mean(self, setting: int, column: str) -> float:
        """Return the mean of a column for a setting, without its samples."""
        return float(self.means.of(column)[0, setting])


def cell_of(statistic: Floats, *, missing: str = "undefined") -> Cell:
    """Return the cell of a statistic; ``missing`` is its note if it has no value."""
    return estimated(estimate(statistic), missing=missing)


def read_pool(folders: Sequence[Path]) -> Pool:
    """Return the pool of evaluations, whose folders are named KIND-WORLD.

    Raises:
        InvalidRequest: as of :func:`pool_of`, or an evaluation is unfinished.
    """
    kinds: dict[str, dict[str, Results]] = {}
    for folder in folders:
        kind, _, world = folder.name.rpartition("-")
        kinds.setdefault(kind, {})[world] = read_finished(folder)
    return pool_of(kinds)


@oracle_parts()
def pool_of(kinds: Mapping[str, Mapping[str, Results]], *, seed: int = 0) -> Pool:
    """Return the pool of evaluations by their kind and their world.

    The plans of an evaluation become settings of the budgeted oracle and of the benefit oracle.

    Raises:
        InvalidRequest: the worlds have other kinds of evaluations or other settings, or no question
            is in all evaluations of a world.
    """
    worlds = list(dict.fromkeys(world for of_kind in kinds.values() for world in of_kind))
    if any(set(of_kind) != set(worlds) for of_kind in kinds.values()):
        raise InvalidRequest.of("results", f"lack an evaluation of a world: {', '.join(worlds)}")
    questions = [q for world in worlds for q in _shared(world, kinds)]
    known = {each.id for each in questions}
    settings: list[Setting] = []
    systems: list[System] = []
    scores: list[Score] = []
    answered: list[tuple[str, str, Results]] = []
    for kind, of_kind in kinds.items():
        own = next(iter(of_kind.values())).evaluation.settings
        for world, results in of_kind.items():
            labels = _labels(kind, own, results)
            for score in scores_of(results):
                named = f"{world}/{score.question_id}"
                if named in known:
                    label = labels[score.setting]
                    scores.append(replace(score, setting=label, question_id=named))
            answered.append((kind, world, results))
        settings += [replace(each, label=f"{kind} {each.label}") for each in own]
        systems += _systems(kind, own, offset=len(settings) - len(own))
    measure = _measure(scores)
    for kind, of_kind in kinds.items():
        own = next(iter(of_kind.values())).evaluation.settings
        for budgeted, of_budgeted in _budgeted(kind, own, scores, measure):
            systems += _systems(kind, budgeted, offset=len(settings))
            settings += [replace(each, label=f"{kind} {each.label}") for each in budgeted]
            scores += [replace(x, setting=f"{kind} {x.setting}") for x in of_budgeted]
    builder, drafts = TableBuilder(questions, settings), JudgedDraftsBuilder(questions, settings)
    for score in scores:
        builder.add_score(score)
    for kind, world, results in answered:
        labels = _labels(kind, next(iter(kinds[kind].values())).evaluation.settings, results)
        for prediction in results.predictions:
            named = f"{world}/{prediction.question_id}"
            if named in known:
                label = labels[prediction.setting]
                mine = replace(prediction, setting=label, question_id=named)
                builder.add_prediction(mine)
                drafts.add_prediction(mine)
    table = builder.build()
    return Pool(
        table=table,
        systems=tuple(each for each in systems if each.name.partition(":")[0] != PLANNED),
        measure=main_measure(table),
        means=resampled_means(table, seed=seed),
        drafts=drafts,
    )


def _shared(world: str, kinds: Mapping[str, Mapping[str, Results]]) -> Iterator[Question]:
    """Yield the questions of all evaluations of a world, with ids that name it.

    The known films, and so their entities, are the same in every world.
    """
    every = [of_kind[world].questions for of_kind in kinds.values()]
    shared = set.intersection(*({each.id for each in questions} for questions in every))
    if not shared:
        raise InvalidRequest.of("results", f"of world {world} have no question in common")
    for each in every[0]:
        if each.id in shared:
            tail = dict(each.labels).get("popularity") == "tail"
            entity = f"{world}/{each.entity}" if tail else each.entity
            yield replace(each, id=f"{world}/{each.id}", entity=entity)


def _labels(kind: str, own: Sequence[Setting], results: Results) -> Mapping[str, str]:
    """Return the label in the pool of every setting of an evaluation."""
    settings = results.evaluation.settings
    names, expected = ([_name(each) for each in some] for some in (settings, own))
    if names != expected:
        raise InvalidRequest.of("results", f"of {kind} have other settings in another world")
    return {each.label: f"{kind} {first.label}" for each, first in zip(settings, own, strict=True)}


def _systems(kind: str, settings: Sequence[Setting], *, offset: int) -> Iterator[System]:
    tuned = next((each.policy.artefact for each in settings if each.policy.artefact), "")
    found: defaultdict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(settings, offset):
        others = kind == TUNED and not each.policy.artefact
        found[f"{tuned} at any theta" if others else _name(each)].append(at)
    for name, places in found.items():
        yield System(kind, name, tuple(places))


def _name(setting: Setting) -> str:
    return variant_name(setting.policy, setting.scorer, setting.index)


def _budgeted(
    kind: str, settings: Sequence[Setting], scores: Sequence[Score], measure: str
) -> Iterator[tuple[tuple[Setting, ...], tuple[Score, ...]]]:
    """Yield the budgeted oracle of each query of the plans."""
    queries: defaultdict[str, set[str]] = defaultdict(set)
    for each in settings:
        if each.policy.name == PLANNED:
            query = each.policy.overrides.query or ""
            queries[query].add(f"{kind} {each.label}")
    for query, labels in queries.items():
        planned = (score for score in scores if score.setting in labels)
        yield budgeted_settings(planned, measure=measure, query=query)


def _measure(scores: Sequence[Score]) -> str:
    names = scores[0].values
    return "f1" if "f1" in names else next(iter(names))
