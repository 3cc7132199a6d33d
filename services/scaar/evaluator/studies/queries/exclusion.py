"""The effect of excluding passages that an answer has read, in a report."""

from collections.abc import Iterable, Sequence

from scaar.evaluator.report.cells import number, text
from scaar.evaluator.report.model import Column, Section, Table
from scaar.evaluator.studies.queries.comparison import FormulationComparison
from scaar.evaluator.studies.queries.differences import HOLM, LABEL, new_supports_differences
from scaar.evaluator.studies.queries.formulations import Exclusion
from scaar.evaluator.studies.queries.records import CUTS, MIDDLE, Retrieval
from scaar.evaluator.studies.queries.store import QueryResults


def exclusion_sections(
    results: QueryResults, comparison: FormulationComparison
) -> Sequence[Section]:
    """Return the comparison of exclusion with none, and the supports that it withheld."""
    excluding = [
        each.label for each in results.evaluation.variants if each.exclusion is Exclusion.SEEN
    ]
    if not excluding:
        return ()
    tables = []
    if pairs := comparison.to_exclusions():
        title = "Paired differences of exclusion from the same formulation without"
        note = (
            f"{HOLM} matched_depth does not exclude: each retrieval of an answer reads the "
            "smallest number of passages at which the answer reads at least as many distinct "
            "passages as with exclusion."
        )
        tables.append(
            new_supports_differences(comparison, pairs, name="exclusion", title=title, note=note)
        )
    tables.append(_withheld(results, excluding))
    return (Section("Excluding passages that the answer has read", tuple(tables)),)


def withheld_counts(retrievals: Iterable[Retrieval]) -> tuple[int, int, int]:
    """Return numbers of retrievals: all, those that withhold a support, those of them without any.

    A retrieval withholds a support if its query finds the support among the first ``MIDDLE``
    passages, but an earlier retrieval read it. Counts are at this number of passages.
    """
    readings = [each.readings[CUTS.index(MIDDLE)] for each in retrievals]
    withholding = [each for each in readings if each.withheld]
    return len(readings), len(withholding), sum(not any(x.ranks) for x in withholding)


def _withheld(results: QueryResults, labels: Sequence[str]) -> Table:
    titles = ("retrievals", "exclude a support that the query finds", "and read no other support")
    names = ("retrievals", "withhold_support", "lose_support")
    rows = []
    for label in labels:
        counts = withheld_counts(x for each in results.records for x in each.retrievals[label])
        rows.append((text(label), *(number(float(each)) for each in counts)))
    columns = [Column(*each, decimals=0) for each in zip(names, titles, strict=True)]
    note = (
        f"Number of retrievals, at {MIDDLE} passages each. A policy that drops the passages of "
        "earlier sentences writes a sentence that needs such a support again without it."
    )
    return Table("withheld", "Supports excluded", (LABEL, *columns), tuple(rows), note)
