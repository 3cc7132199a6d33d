"""``python -m reference.queries PART=DIR,... ...``: writes the figures of docs/queries.md.

``PART`` names a marker of the page. Each ``DIR`` is the output folder of a run of ``scaar eval
queries``: the first gives all formulations, the others add those that use another scorer. With
``--exclusion`` before them, the figures are those of exclusion, two tables for each run.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from reference.markdown import replace_parts, table
from scaar.core.errors import ScaarError
from scaar.evaluator.planning.axes import ITSELF
from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.statistics.estimate import Corrected, Estimate
from scaar.evaluator.studies.queries.comparison import PER_TERMS, FormulationComparison
from scaar.evaluator.studies.queries.exclusion import withheld_counts
from scaar.evaluator.studies.queries.formulations import Exclusion, FormulationVariant
from scaar.evaluator.studies.queries.records import CUTS, MIDDLE
from scaar.evaluator.studies.queries.scores import (
    SEARCHES,
    TERMS,
    distinct,
    passages_read,
    per_answer,
    per_retrieval,
    recall,
    table_of,
)
from scaar.evaluator.studies.queries.store import QueryResults, read_queries

PAGE = Path(__file__).parents[2] / "docs" / "queries.md"
BY = "python -m reference.queries"
BY_EXCLUSION = f"{BY} --exclusion"
REFERENCE = "question+current_sentence"
EXCLUSION_REFERENCES = {
    "PFQ50": "question+pfq:alpha=50",
    "PFQ50 with exclusion": f"question+pfq:alpha=50,exclude_seen={Exclusion.SEEN}",
    "PFQ50 with `matched_depth`": f"question+pfq:alpha=50,exclude_seen={Exclusion.MATCHED_DEPTH}",
}
"""The variants of the published query that others are compared with, as far as a run has them."""


def part(folders: Sequence[Path], *, resamples: int = RESAMPLES) -> str:
    """Return the results of the runs: a line on their origin and two tables."""
    runs = [read_queries(folder) for folder in folders]
    compared = [
        FormulationComparison(each.evaluation, table_of(each), resamples=resamples) for each in runs
    ]
    heading = (
        *("formulation", "contributions", *(f"recall at {cut}" for cut in CUTS), "query terms"),
        *(f"recall at {MIDDLE} per {PER_TERMS} terms", f"recall per answer, at {MIDDLE} each"),
        *(f"difference from `{REFERENCE}` at {MIDDLE}", "p"),
    )
    rows = [
        row
        for at, (run, each) in enumerate(zip(runs, compared, strict=True))
        for row in _rows(run, each, only_scored=at > 0)
    ]
    columns = (
        "formulation",
        "contributions",
        "compared with",
        *(x for c in CUTS for x in (f"at {c}", "p")),
    )
    controls = [row for pair in zip(runs, compared, strict=True) for row in _controls(*pair)]
    return "\n\n".join((_made(runs, compared), table(heading, rows), table(columns, controls)))


def exclusion_part(folders: Sequence[Path], *, resamples: int = RESAMPLES) -> str:
    """Return a line on the origin of the first run, and two tables of each run."""
    parts: list[str] = []
    for folder in folders:
        run = read_queries(folder)
        comparing = FormulationComparison(run.evaluation, table_of(run), resamples=resamples)
        if not parts:
            parts.append(_made([run], [comparing]))
        parts += [_read(run, comparing), _beside(run, comparing)]
    return "\n\n".join(parts)


def _read(run: QueryResults, comparing: FormulationComparison) -> str:
    """Return the table of new supports, passages and searches of each variant."""
    shares = {
        "new supports per answer": per_answer(MIDDLE),
        "per retrieval": per_retrieval(MIDDLE),
        "recall": recall(MIDDLE),
    }
    counts = {
        "distinct passages": distinct(MIDDLE),
        "passages": passages_read(MIDDLE),
        "searches": SEARCHES,
    }
    cells = [
        *([_value(x, decimals=3) for x in comparing.estimates(y)] for y in shares.values()),
        *([_value(x, decimals=1) for x in comparing.estimates(y)] for y in counts.values()),
    ]
    rows = zip(run.evaluation.variants, zip(*cells, strict=True), strict=True)
    return table(
        ("formulation", "reads", *shares, *counts),
        [(*_reading_of(variant), *row) for variant, row in rows],
    )


def _beside(run: QueryResults, comparing: FormulationComparison) -> str:
    """Return the table of differences from the references, and of excluded supports."""
    references = {
        name: label for name, label in EXCLUSION_REFERENCES.items() if label in comparing.labels
    }
    found = [_from(comparing, label, per_answer(MIDDLE)) for label in references.values()]
    rows = []
    for variant in run.evaluation.variants:
        row = list(_reading_of(variant))
        for each in found:
            row += _difference(each[variant.label]) if variant.label in each else ("", "")
        withheld: tuple[str, ...] = ("", "", "")
        if variant.exclusion is Exclusion.SEEN:
            retrievals = (x for each in run.records for x in each.retrievals[variant.label])
            withheld = tuple(f"{each:,}" for each in withheld_counts(retrievals))
        rows.append((*row, *withheld))
    differences = (x for each in references for x in (f"difference from {each}", "p"))
    counts = ("retrievals", "exclude a support", "and read no other")
    return table(("formulation", "reads", *differences, *counts), rows)


def _reading_of(variant: FormulationVariant) -> tuple[str, str]:
    reads = f"{MIDDLE + variant.extra}"
    if variant.exclusion is not Exclusion.NONE:
        reads = f"`{variant.exclusion}`"
    return f"`{variant.name}`", reads


def _made(runs: Sequence[QueryResults], compared: Sequence[FormulationComparison]) -> str:
    evaluation = runs[0].evaluation
    sentences = sum(len(next(iter(each.retrievals.values()))) for each in runs[0].records)
    text = (
        f"{len(compared[0].table.questions)} questions, {sentences:,} sentences, "
        f"{evaluation.passages:,} passages (index {evaluation.index_version[:12]}), scaar "
        f"{evaluation.scaar}."
    )
    for run in runs:
        itself = run.evaluation.scorers[ITSELF]
        text += f" {itself.model}: revision {itself.revision}."
        if refused := {(question, each.sentence) for question, each in run.refused}:
            text += f" It rejected {len(refused)} of the sentences."
    return text


def _rows(
    run: QueryResults, comparing: FormulationComparison, *, only_scored: bool
) -> Iterator[list[str]]:
    columns = [recall(cut) for cut in CUTS]
    found = [*(comparing.estimates(name) for name in columns), comparing.estimates(TERMS)]
    found += [comparing.per_terms(recall(MIDDLE)), comparing.estimates(per_answer(MIDDLE))]
    more = _from(comparing, REFERENCE, recall(MIDDLE))
    for at, variant in enumerate(run.evaluation.variants):
        if only_scored and not variant.scored:
            continue
        cells = [
            _value(each[at], decimals=1 if n == len(CUTS) else 3) for n, each in enumerate(found)
        ]
        beside = more.get(variant.label)
        yield [*_named(run, variant), *cells, *(_difference(beside) if beside else ("", ""))]


def _from(comparing: FormulationComparison, reference: str, column: str) -> dict[str, Corrected]:
    """Return the difference of every other label from a reference."""
    pairs = comparing.to_reference(reference)
    found = comparing.differences(pairs, column)
    return {label: each for (label, _), each in zip(pairs, found, strict=True)}


def _controls(run: QueryResults, comparing: FormulationComparison) -> Iterator[list[str]]:
    pairs = comparing.to_controls()
    by_cut = [comparing.differences(pairs, recall(cut)) for cut in CUTS]
    variants = {each.label: each for each in run.evaluation.variants}
    for at, (own, other) in enumerate(pairs):
        beside = _named(run, variants[other])[1]
        cells = [cell for found in by_cut for cell in _difference(found[at])]
        yield [*_named(run, variants[own]), beside, *cells]


def _named(run: QueryResults, variant: FormulationVariant) -> tuple[str, str]:
    label = variant.by(None).label
    if not variant.scored:
        return f"`{label}`", ""
    return f"`{label}`", run.evaluation.scorers[str(variant.scorer or ITSELF)].model


def _value(found: Estimate, *, decimals: int) -> str:
    """Return a share with its interval, or with one decimal a number without."""
    value, low, high = (
        f"{each or 0:.{decimals}f}" for each in (found.value, found.low, found.high)
    )
    return value if decimals == 1 else f"{value} [{low}, {high}]"


def _difference(found: Corrected) -> tuple[str, str]:
    values = (found.value, found.low, found.high)
    value, low, high = (f"{round(each or 0, 3) + 0.0:+.3f}" for each in values)
    return f"{value} [{low}, {high}]", "-" if found.holm is None else f"{found.holm:.3f}"


def main() -> int:
    """Write the figures of the page from the given folders."""
    arguments = sys.argv[1:]
    by, make = BY, part
    if arguments[:1] == ["--exclusion"]:
        by, make, arguments = BY_EXCLUSION, exclusion_part, arguments[1:]
    named = [argument.partition("=") for argument in arguments]
    if not named or not all(name and folders for name, _, folders in named):
        print(f"usage: {by} PART=DIR[,DIR]... for every part of {PAGE.name}", file=sys.stderr)
        return 2
    try:
        parts = {name: make([Path(x) for x in each.split(",")]) for name, _, each in named}
        PAGE.write_text(replace_parts(PAGE.read_text(), parts, by=by))
    except (ScaarError, ValueError) as error:
        print(f"{by}: {error}", file=sys.stderr)
        return 1
    print(f"wrote docs/{PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
