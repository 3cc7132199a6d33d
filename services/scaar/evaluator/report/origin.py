"""What made an evaluation, and how its comparison was made."""

from collections.abc import Iterable

from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import measure_title, number, text
from scaar.evaluator.report.model import Cell, Column, Item, Section, Table
from scaar.evaluator.report.summary import BILL_COLUMNS
from scaar.evaluator.results import told_left_out
from scaar.evaluator.statistics.choice import RETRIEVALS

OF_RECORD = 2_000
"""Questions without which small differences are chance."""


def say_how(analysis: Analysis) -> Section:
    """In plain words how the policies were compared, and what that is worth."""
    measure, halved = measure_title(analysis.measure), analysis.halved
    count, tested = len(analysis.table.questions), len(halved.test.questions)
    candidates = sorted({len(each.candidates) for each in analysis.contenders})
    items: list[Item] = []
    if halved.apart:
        items.append(
            f"{count} questions were split into halves by what they are about: "
            f"{count - tested} for development, on which every choice was made, and {tested} for "
            "the test, on which everything here is measured. The questions about one entity are "
            "in the same half."
        )
    else:
        items.append(
            f"{_counted(count, 'question')} could not be split into halves by what they are "
            "about, so each setting was chosen on the questions that it is reported on: what was "
            "chosen looks better than it is."
        )
    many = " or ".join(str(each) for each in candidates)
    items.append(
        f"Each policy had {many} candidate{'' if candidates == [1] else 's'}; its setting is the "
        f"one with the best {measure} on the development half, of equal ones that of fewer "
        "retrievals."
        + (" Policies with more candidates have the better chance." if len(candidates) > 1 else "")
    )
    entities = len(halved.test.clusters)
    items.append(
        f"Intervals are of 95%, by {analysis.options.resamples} bootstrap resamples of whole "
        f"entities ({entities} in the test half), in which every choice is made anew; differences "
        "are paired, and p-values corrected by Holm's method."
    )
    if told := "; ".join(told_left_out(analysis.evaluation.left_out)):
        items.append(f"Left out, because the model cannot serve them: {told}.")
    if analysis.evaluation.generations_kept:
        items.append(
            "The model was asked once for what settings have in common: milliseconds are not "
            "those of an answer."
        )
    if count < OF_RECORD:
        items.append(
            f"Warning: {_counted(count, 'question')} only. A report of record has at least "
            f"{OF_RECORD:,}; at 200 an F1 of 0.80 and one of 0.78 are the same."
        )
    return Section("How the comparison is made", tuple(items))


def say_what_made_it(analysis: Analysis) -> Section:
    """Data set, model, scorer, index, versions, seeds and date; and every setting in numbers."""
    evaluation, dataset = analysis.evaluation, analysis.evaluation.dataset
    made = [evaluation.provenance[label] for label in sorted(evaluation.provenance)]
    grid = evaluation.grid
    facts = [
        ("scaar", evaluation.scaar),
        ("begun", evaluation.created),
        ("data set", " ".join(each for each in (dataset.name, dataset.path) if each)),
        ("questions", f"{dataset.questions} (seed {dataset.seed}{_limit(dataset.limit)})"),
        ("questions' SHA-256", dataset.checksum),
        ("file's SHA-256", dataset.file_sha256),
        ("published as", dataset.published_as),
        ("model", _each(f"{x.model} {x.model_revision} ({x.engine})" for x in made)),
        ("scorer", _each(f"{x.scorer} {x.scorer_revision}" for x in made if x.scorer)),
        ("index", _each(f"{x.index} {x.index_version}" for x in made if x.index_version)),
        ("encoder", _each(f"{x.encoder} {x.encoder_revision}" for x in made if x.encoder)),
        ("prompt profile", _each(x.prompt_profile for x in made)),
        ("time allowed", f"{evaluation.budget.timeout_s:g} s a question"),
        ("thetas placed", f"{grid.size} a policy, by quantiles" if grid else "as asked for"),
        ("resampling", f"{analysis.options.resamples} draws, seed {analysis.options.seed}"),
    ]
    rows = tuple((text(name), text(value)) for name, value in facts if value)
    columns = (Column("what", "what"), Column("value", "value"))
    made_by = Table("made_by", "Data, models and seeds", columns, rows)
    return Section("What made it", (made_by, _settings(analysis)))


def _settings(analysis: Analysis) -> Table:
    measures = analysis.table.measures
    rows = []
    for at, setting in enumerate(analysis.table.settings):
        developed = float(analysis.means.development.of(analysis.measure)[0, at])
        cells: list[Cell] = [text(setting.label), number(developed)]
        columns = (*measures, RETRIEVALS, *(column.name for column in BILL_COLUMNS))
        cells += [number(float(analysis.means.test.of(each)[0, at])) for each in columns]
        rows.append(tuple(cells))
    title = measure_title(analysis.measure)
    return Table(
        "settings",
        "Every setting",
        (
            Column("setting", "setting"),
            Column("development", f"{title}, development", decimals=3),
            *(Column(name, measure_title(name), decimals=3) for name in measures),
            Column(RETRIEVALS, "N_R", decimals=2),
            *BILL_COLUMNS,
        ),
        tuple(rows),
        note=f"Means on the test half, but for the {title} that the choice was made by.",
    )


def _each(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(value.strip() for value in values))


def _limit(limit: int | None) -> str:
    return "" if limit is None else f", limit {limit}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
