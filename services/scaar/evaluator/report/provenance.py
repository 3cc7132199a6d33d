"""How the policies of an evaluation were compared, and the provenance of the evaluation."""

from collections.abc import Iterable

from scaar.core.plurals import counted
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import mark_best, measure_title, number, score_column, text
from scaar.evaluator.report.model import Cell, Column, Item, Section, Table
from scaar.evaluator.report.summary import USAGE_COLUMNS
from scaar.evaluator.results import describe_left_out
from scaar.evaluator.statistics.selection import RETRIEVALS

QUESTIONS_OF_RECORD = 2_000
"""Minimum number of questions of a report of record; with fewer, small differences are chance."""


def describe_comparison(analysis: Analysis) -> Section:
    """Describe in plain words how the policies were compared, and the limits of that."""
    measure, splits = measure_title(analysis.measure), analysis.splits
    count, tested = len(analysis.table.questions), len(splits.test.questions)
    candidates = sorted({len(each.candidates) for each in analysis.variants})
    items: list[Item] = []
    if splits.apart:
        items.append(
            f"{counted(count, 'question')} were split by entity: {count - tested} for development, "
            f"on which every choice was made, and {tested} for the test, on which everything here "
            "is measured. Questions about the same entity are in the same split."
        )
    else:
        items.append(
            f"{counted(count, 'question')} could not be split by entity. Each setting was chosen "
            "on the questions that it is measured on, so chosen settings look better than they are."
        )
    many = " or ".join(str(each) for each in candidates)
    items.append(
        f"Each policy had {many} candidate setting{'' if candidates == [1] else 's'}. The chosen "
        f"setting has the best {measure} on the development split; of equal ones, the fewest "
        "retrievals."
        + (" Policies with more candidates have an advantage." if len(candidates) > 1 else "")
    )
    entities = len(splits.test.clusters)
    items.append(
        f"Intervals are 95% intervals from {analysis.options.resamples:,} bootstrap samples of "
        f"whole entities ({entities:,} in the test split). Every choice is made again in each "
        "sample. Differences are paired, and p-values are corrected by Holm's method."
    )
    if left_out := "; ".join(describe_left_out(analysis.evaluation.left_out)):
        items.append(f"Left out because the model cannot serve them: {left_out}.")
    if analysis.evaluation.generations_cached:
        items.append(
            "Generations that settings have in common were cached, so milliseconds are not the "
            "time of an answer."
        )
    if count < QUESTIONS_OF_RECORD:
        items.append(
            f"Warning: only {counted(count, 'question')}. A report of record has at least "
            f"{QUESTIONS_OF_RECORD:,}; with 200 questions, F1 values of 0.80 and 0.78 cannot be "
            "distinguished."
        )
    return Section("How policies are compared", tuple(items))


def describe_provenance(analysis: Analysis) -> Section:
    """Return the data set, models, index, versions, seeds and date, and every setting's means."""
    evaluation, dataset = analysis.evaluation, analysis.evaluation.dataset
    made = [evaluation.provenance[label] for label in sorted(evaluation.provenance)]
    grid, limit_s = evaluation.grid, evaluation.budget.timeout_s
    facts = [
        ("scaar", evaluation.scaar),
        ("started", evaluation.created),
        ("data set", " ".join(each for each in (dataset.name, dataset.path) if each)),
        ("questions", f"{dataset.questions} (seed {dataset.seed}{_limit(dataset.limit)})"),
        ("questions' SHA-256", dataset.checksum),
        ("file's SHA-256", dataset.file_sha256),
        ("published as", dataset.published_as),
        ("model", _each(f"{x.model} {x.model_revision} ({x.engine})" for x in made)),
        ("scorer", _each(f"{x.scorer} {x.scorer_revision}" for x in made if x.scorer)),
        ("index", _each(f"{x.index} {x.index_version}" for x in made if x.index_version)),
        ("filters", "; ".join(f"{x.field}: {', '.join(x.values)}" for x in evaluation.filters)),
        ("encoder", _each(f"{x.encoder} {x.encoder_revision}" for x in made if x.encoder)),
        ("reranker", _each(f"{x.reranker} {x.reranker_revision}" for x in made if x.reranker)),
        ("prompt profile", _each(x.prompt_profile for x in made)),
        ("time limit", f"{limit_s:g} s per question" if limit_s else ""),
        ("thetas", f"{grid.size} per policy, at quantiles of its scores" if grid else "as given"),
        (
            "bootstrap",
            f"{analysis.options.resamples:,} samples, seed {analysis.options.seed}",
        ),
    ]
    rows = tuple((text(name), text(value)) for name, value in facts if value)
    columns = (Column("what", "item"), Column("value", "value"))
    made_by = Table("made_by", "Data, models and seeds", columns, rows)
    return Section("Provenance", (made_by, _settings(analysis)))


def _settings(analysis: Analysis) -> Table:
    title = measure_title(analysis.measure)
    others = [name for name in analysis.table.measures if name != analysis.measure]
    measured = (analysis.measure, *others, RETRIEVALS, *(each.name for each in USAGE_COLUMNS))
    rows: list[tuple[Cell, ...]] = []
    for at, setting in enumerate(analysis.table.settings):
        means = analysis.means.test
        cells = [number(float(means.of(each)[0, at])) for each in measured]
        developed = float(analysis.means.development.of(analysis.measure)[0, at])
        rows.append((text(setting.label), cells[0], number(developed), *cells[1:]))
    columns = (
        Column("setting", "setting"),
        score_column(analysis.measure, title, pinned=True),
        score_column("development", f"{title}, development"),
        *(score_column(name, measure_title(name)) for name in others),
        Column(RETRIEVALS, "retrievals (N_R)", decimals=2),
        *USAGE_COLUMNS,
    )
    return Table(
        "settings",
        "Every setting",
        columns,
        mark_best(columns, rows, (*analysis.table.measures, "development")),
        note=(
            f"Means per question on the test split. The {title} of the development split decides "
            "which setting is chosen."
        ),
    )


def _each(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(value.strip() for value in values))


def _limit(limit: int | None) -> str:
    return "" if limit is None else f", limit {limit}"
