"""``python -m reference.queries PART=DIR,... ...``: writes the figures of docs/queries.md.

``PART`` is a place in the page, each ``DIR`` the folder of a run of ``scaar eval queries``: the
first one's formulations, then what further ones have by contributions of others.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from reference.markdown import remade, table
from scaar.core.errors import ScaarError
from scaar.core.measures.interval import RESAMPLES
from scaar.evaluator.planning.scorers import ITSELF
from scaar.evaluator.queries.askings import Asking
from scaar.evaluator.queries.comparing import PER_TERMS, Comparing, Difference
from scaar.evaluator.queries.records import CUTS
from scaar.evaluator.queries.report import MIDDLE
from scaar.evaluator.queries.scoring import TERMS, recall, table_of, together
from scaar.evaluator.queries.store import QueryResults, read_queries
from scaar.evaluator.statistics.estimate import Estimate

PAGE = Path(__file__).parents[2] / "docs" / "queries.md"
BY = "python -m reference.queries"
REFERENCE = "question+current_sentence"


def part(folders: Sequence[Path], *, resamples: int = RESAMPLES) -> str:
    """What the runs in the folders came to: a line on their making and two tables."""
    runs = [read_queries(folder) for folder in folders]
    compared = [Comparing(each.evaluation, table_of(each), resamples=resamples) for each in runs]
    heading = (
        *("formulation", "contributions", *(f"at {cut}" for cut in CUTS), "terms"),
        *(f"at {MIDDLE} per {PER_TERMS} terms", f"an answer's, at {MIDDLE} each"),
        *(f"more than `{REFERENCE}` at {MIDDLE}", "p"),
    )
    rows = [
        row
        for at, (run, each) in enumerate(zip(runs, compared, strict=True))
        for row in _rows(run, each, only_scored=at > 0)
    ]
    told = ("formulation", "contributions", "beside", *(x for c in CUTS for x in (f"at {c}", "p")))
    controls = [row for pair in zip(runs, compared, strict=True) for row in _controls(*pair)]
    return "\n\n".join((_made(runs, compared), table(heading, rows), table(told, controls)))


def _made(runs: Sequence[QueryResults], compared: Sequence[Comparing]) -> str:
    evaluation = runs[0].evaluation
    sentences = sum(len(next(iter(each.retrievals.values()))) for each in runs[0].asked)
    told = (
        f"{len(compared[0].table.questions)} questions, {sentences:,} sentences, "
        f"{evaluation.passages:,} passages (index {evaluation.index_version[:12]}), scaar "
        f"{evaluation.scaar}."
    )
    for run in runs:
        itself = run.evaluation.scorers[ITSELF]
        told += f" {itself.model}: revision {itself.revision}."
        if refused := {(question, each.sentence) for question, each in run.refused}:
            told += f" It did not take {len(refused)} of the sentences."
    return told


def _rows(run: QueryResults, comparing: Comparing, *, only_scored: bool) -> Iterator[list[str]]:
    columns = [recall(cut) for cut in CUTS]
    found = [*(comparing.estimates(name) for name in columns), comparing.estimates(TERMS)]
    found += [comparing.per_terms(recall(MIDDLE)), comparing.estimates(together(MIDDLE))]
    pairs = comparing.to_reference(REFERENCE)
    more = {each.label: each for each in comparing.differences(pairs, recall(MIDDLE))}
    for at, asking in enumerate(run.evaluation.askings):
        if only_scored and not asking.scored:
            continue
        cells = [_value(each[at], TERMS if each is found[len(CUTS)] else "") for each in found]
        beside = more.get(asking.label)
        yield [*_named(run, asking), *cells, *(_difference(beside) if beside else ("", ""))]


def _controls(run: QueryResults, comparing: Comparing) -> Iterator[list[str]]:
    pairs = comparing.to_controls()
    by_cut = [comparing.differences(pairs, recall(cut)) for cut in CUTS]
    askings = {each.label: each for each in run.evaluation.askings}
    for at, (own, other) in enumerate(pairs):
        beside = _named(run, askings[other])[1]
        cells = [cell for found in by_cut for cell in _difference(found[at])]
        yield [*_named(run, askings[own]), beside, *cells]


def _named(run: QueryResults, asking: Asking) -> tuple[str, str]:
    label = asking.by(None).label
    if not asking.scored:
        return f"`{label}`", ""
    return f"`{label}`", run.evaluation.scorers[str(asking.scorer or ITSELF)].model


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
    """Writes the page's figures from the folders that are named."""
    named = [argument.partition("=") for argument in sys.argv[1:]]
    if not named or not all(name and folders for name, _, folders in named):
        print(f"use: {BY} PART=DIR[,DIR]... for every part of {PAGE.name}", file=sys.stderr)
        return 2
    try:
        parts = {name: part([Path(x) for x in each.split(",")]) for name, _, each in named}
        PAGE.write_text(remade(PAGE.read_text(), parts, by=BY))
    except (ScaarError, ValueError) as error:
        print(f"{BY}: {error}", file=sys.stderr)
        return 1
    print(f"wrote docs/{PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
