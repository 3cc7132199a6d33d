"""``python -m reference.queries PART=DIR,... ...``: writes the figures of docs/queries.md.

``PART`` names a marker of the page. Each ``DIR`` is the output folder of a run of ``scaar eval
queries``: the first gives all formulations, the others add those that use another scorer.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from reference.markdown import replace_parts, table
from scaar.core.errors import ScaarError
from scaar.evaluator.planning.axes import ITSELF
from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.studies.queries.comparison import PER_TERMS, Difference, FormulationComparison
from scaar.evaluator.studies.queries.formulations import FormulationVariant
from scaar.evaluator.studies.queries.records import CUTS
from scaar.evaluator.studies.queries.report import MIDDLE
from scaar.evaluator.studies.queries.scores import TERMS, recall, table_of, together
from scaar.evaluator.studies.queries.store import QueryResults, read_queries

PAGE = Path(__file__).parents[2] / "docs" / "queries.md"
BY = "python -m reference.queries"
REFERENCE = "question+current_sentence"


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
    found += [comparing.per_terms(recall(MIDDLE)), comparing.estimates(together(MIDDLE))]
    pairs = comparing.to_reference(REFERENCE)
    more = {each.label: each for each in comparing.differences(pairs, recall(MIDDLE))}
    for at, variant in enumerate(run.evaluation.variants):
        if only_scored and not variant.scored:
            continue
        cells = [_value(each[at], TERMS if each is found[len(CUTS)] else "") for each in found]
        beside = more.get(variant.label)
        yield [*_named(run, variant), *cells, *(_difference(beside) if beside else ("", ""))]


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


def _value(found: Estimate, column: str) -> str:
    decimals = 1 if column == TERMS else 3
    value, low, high = (
        f"{each or 0:.{decimals}f}" for each in (found.value, found.low, found.high)
    )
    return value if column == TERMS else f"{value} [{low}, {high}]"


def _difference(found: Difference) -> tuple[str, str]:
    values = (found.found.value, found.found.low, found.found.high)
    value, low, high = (f"{round(each or 0, 3) + 0.0:+.3f}" for each in values)
    return f"{value} [{low}, {high}]", "-" if found.holm is None else f"{found.holm:.3f}"


def main() -> int:
    """Write the figures of the page from the given folders."""
    named = [argument.partition("=") for argument in sys.argv[1:]]
    if not named or not all(name and folders for name, _, folders in named):
        print(f"usage: {BY} PART=DIR[,DIR]... for every part of {PAGE.name}", file=sys.stderr)
        return 2
    try:
        parts = {name: part([Path(x) for x in each.split(",")]) for name, _, each in named}
        PAGE.write_text(replace_parts(PAGE.read_text(), parts, by=BY))
    except (ScaarError, ValueError) as error:
        print(f"{BY}: {error}", file=sys.stderr)
        return 1
    print(f"wrote docs/{PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
