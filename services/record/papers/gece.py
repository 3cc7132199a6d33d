"""GECE's tables: every method without GECE, with its labels or the gate, and a random choice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from record.longtail.gated_evaluation import (
    MEASURES,
    Measurements,
    Pair,
    measured,
    measurements_of,
    read_gated,
)
from record.longtail.plan import TAIL_SHARE
from record.longtail.tails import TAIL
from record.papers.plan import DOCUMENTED, GATED, NEVER, REFLECT, SKR, TAIL_LABELS
from scaar.core.errors import InvalidRequest
from scaar.evaluator.measures import MEASURES as EVERY_MEASURE
from scaar.evaluator.records import Question, Setting
from scaar.evaluator.report.cells import estimated, measure_title, number, score_column, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.statistics.detection import auroc, entity_draws
from scaar.evaluator.statistics.detection import estimated as estimate_of
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.table import Floats, ScoreTable
from scaar.evaluator.studies.joining.evaluations import read_finished
from scaar.evaluator.studies.longtail.detection import precision_at, tail_of
from scaar.evaluator.studies.longtail.folder import read_labels
from scaar.evaluator.studies.longtail.gece import Variant, called_long_tail, count_of, ranks
from scaar.evaluator.studies.longtail.records import Label

REPLACEMENTS = ("meteor_exact_stem", "chrf", "ter_complement")
"""METEOR, and the measures that GECE's authors put in its place."""


@dataclass(frozen=True, slots=True)
class Method:
    """The answers of a method: without GECE, without retrieval, and behind the gate if it ran."""

    name: str
    table: ScoreTable
    without: Floats
    alone: Floats
    gated: Floats | None = None
    passed: Floats | None = None
    """Whether the gate let each question retrieve."""
    full: Floats | None = None
    """The answers to questions that GECE calls long-tail, if they are not those without GECE."""


def methods_of(folders: Sequence[Path]) -> list[Method]:
    """Return the methods of the evaluations in the folders."""
    by_name = {each.name: each for each in folders}
    return [*_gated(by_name[GATED]), *_skr(by_name[SKR]), *_ungated(by_name[REFLECT])]


def documents_of(folders: Sequence[Path]) -> list[Method]:
    """Return ``single_round`` with each number of documents."""
    (folder,) = (each for each in folders if each.name == DOCUMENTED)
    return [
        replace(each, name=f"{each.name.replace(':top_k=', ', ')} documents")
        for each in _ungated(folder)
    ]


def gece_table(methods: Sequence[Method], labels: Path, *, name: str, title: str) -> Table:
    """Return the scores and times of each method without GECE and with GECE.

    A row with GECE also has what a random choice of as many questions reaches.
    """
    labelling, questions, found = read_labels(labels)
    called = called_long_tail(found, Variant.GECE, share=labelling.share)
    long_tail = dict(zip((each.id for each in questions), called, strict=True))
    rows = [row for each in methods for row in _rows(each, long_tail)]
    columns = (
        Column("method", "method"),
        Column("gece", "GECE"),
        Column("retrieved", "retrieved for", decimals=2),
        *(score_column(each, measure_title(each)) for each in MEASURES),
        Column("speed", "speed-up", decimals=2),
        score_column("difference", "F1 minus random", signed=True),
        Column("random", "speed-up, random", decimals=2),
    )
    return Table(
        name,
        title,
        columns,
        tuple(rows),
        note=(
            f"{len(questions)} questions, {TAIL_SHARE:.0%} of them of the long tail. GECE's labels "
            "know the reference answer, and their rows are computed from the answers without "
            "retrieval and without GECE; the gate predicts labels before an answer, and its rows "
            "ran. The speed-up is the mean time of the method without GECE divided by that of the "
            "row. The last two columns compare with a random choice of as many questions (its "
            "expected values); its speed-up follows from the share of questions that are skipped. "
            "In brackets paired 95% intervals by entity."
        ),
    )


def replacements_table(labels: Path) -> Table:
    """Return how well GECE finds the tail with METEOR, chrF or TER in it."""
    labelling, questions, found = read_labels(labels)
    truths = np.array(tail_of(questions, TAIL))
    draws = entity_draws([each.entity for each in questions], truths, seed=0)
    most = count_of(labelling.share, len(found))
    own = {variant: _first(ranks([x.parts for x in found], variant), most) for variant in _VARIANTS}
    precision_first = partial(precision_at, share=labelling.share)
    rows = []
    for measure in REPLACEMENTS:
        parts = [each.parts for each in _measured_by(measure, found, questions)]
        for variant, title in _VARIANTS.items():
            placed = ranks(parts, variant)
            order = -np.array(placed, dtype=np.float64)
            precision = estimate_of(precision_first, order, truths, draws)
            same = len(_first(placed, most) & own[variant]) / most
            area = estimate_of(auroc, order, truths, draws)
            cells = (estimated(precision), estimated(area), number(same))
            rows.append((text(measure_title(measure)), text(title), *cells))
    return Table(
        "replacements",
        f"Detection of the tail with another measure in GECE, of {len(found)} questions",
        (
            Column("measure", "measure"),
            Column("variant", "order"),
            Column("precision", f"precision at {labelling.share:.0%}", decimals=3),
            Column("auroc", "AUROC", decimals=3),
            Column("same", "same labels as with METEOR", decimals=2),
        ),
        tuple(rows),
        note=(
            f"{truths.mean():.0%} of the questions are of the tail. The gap is that of the measure "
            "and the mean token probability, without word frequency and gradients. In brackets 95% "
            "intervals by entity."
        ),
    )


_VARIANTS = {Variant.GECE: "GECE", Variant.GAP: "the gap alone"}


def _measured_by(
    measure: str, labels: Sequence[Label], questions: Sequence[Question]
) -> Iterator[Label]:
    """Yield the labels with another measure instead of METEOR."""
    score = EVERY_MEASURE[measure]
    for label, question in zip(labels, questions, strict=True):
        value = score(label.prediction, question.answers)
        yield replace(label, parts=replace(label.parts, meteor=value))


def _first(placed: Sequence[int], most: int) -> set[int]:
    return {at for at, rank in enumerate(placed) if rank <= most}


def _gated(folder: Path) -> Iterator[Method]:
    """Yield the policies of an evaluation with a gate."""
    gated = read_gated(folder)
    table, judged = gated.measurements.table, gated.judged()
    passed = np.array([float(judged[each.id].passed) for each in table.questions])
    for pair in gated.pairs:
        yield Method(
            table.settings[pair.without].label,
            table,
            table.values[pair.without],
            table.values[gated.alone],
            table.values[pair.behind],
            passed,
        )


def _ungated(folder: Path) -> Iterator[Method]:
    """Yield each setting of an evaluation without a gate as a method."""
    table = measured(read_finished(folder))
    (alone,) = (at for at, each in enumerate(table.settings) if each.policy.name == NEVER)
    for at, each in enumerate(table.settings):
        if at != alone:
            yield Method(each.label, table, table.values[at], table.values[alone])


def _skr(folder: Path) -> Iterator[Method]:
    """Yield SKR: its vote decides, and with GECE the labels do."""
    for each in _gated(folder):
        assert each.gated is not None
        yield replace(each, name="skr", without=each.gated, full=each.without, gated=None)


def _rows(method: Method, long_tail: dict[str, bool]) -> Iterator[tuple[Cell, ...]]:
    questions = method.table.questions
    if missing := [each.id for each in questions if each.id not in long_tail]:
        text = f"{TAIL_LABELS} must have every evaluated question, and lack {missing[0]}"
        raise InvalidRequest.of("DIR", text)
    labels = np.array([float(long_tail[each.id]) for each in questions])
    full = method.without if method.full is None else method.full

    def mixed(share: Floats | float) -> Floats:
        values: Floats = share * full + (1 - share) * method.alone
        return values

    named = {"without": method.without, "labels": mixed(labels)}
    named["labels, random"] = mixed(float(labels.mean()))
    if method.gated is not None and method.passed is not None:
        named["the gate"] = method.gated
        named["the gate, random"] = mixed(float(method.passed.mean()))
    own = _measurements(method.table, named)
    at = {name: position for position, name in enumerate(named)}
    shares = {"labels": float(labels.mean())}
    if method.passed is not None:
        shares["the gate"] = float(method.passed.mean())
    looked_up = method.without[method.table.columns.index(RETRIEVALS)] > 0
    yield _row(own, method.name, "without", at, float(looked_up.mean()))
    for name in ("labels", "the gate"):
        if name in at:
            yield _row(own, method.name, name, at, shares[name])


def _row(
    own: Measurements, method: str, name: str, at: dict[str, int], share: float
) -> tuple[Cell, ...]:
    scores = (estimated(own.mean(measure, at[name])) for measure in MEASURES)
    if name == "without":
        return text(method), text(name), number(share), *scores, *[number(None)] * 3
    random = at[f"{name}, random"]
    speeds = (
        estimated(own.ratio("latency_ms", Pair(method, at["without"], place)))
        for place in (at[name], random)
    )
    speed, by_chance = speeds
    change = estimated(own.change("f1", at[name], random))
    return text(method), text(f"with {name}"), number(share), *scores, speed, change, by_chance


def _measurements(table: ScoreTable, named: dict[str, Floats]) -> Measurements:
    policy = table.settings[0].policy
    settings = tuple(Setting(name, policy) for name in named)
    return measurements_of(replace(table, settings=settings, values=np.stack([*named.values()])))
