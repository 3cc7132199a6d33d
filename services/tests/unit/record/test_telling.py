from hypothesis import given
from hypothesis import strategies as st

from record.telling import tell_curve, tell_differences, tell_highest, tell_marks
from scaar.evaluator.report.analysis import analyse
from scaar.evaluator.report.model import Cell, Column, Figure, Point, Series, Table
from scaar.evaluator.report.options import ReportOptions
from scaar.evaluator.statistics.estimate import Estimate

from ..evaluator.simulated import SETTINGS, draw_questions, draw_scores, evaluation_of, table_of

SHARES = st.floats(0, 1)
ESTIMATES = st.tuples(SHARES, SHARES, SHARES).map(
    lambda three: Estimate(sorted(three)[1], min(three), max(three))
)


def test_who_is_highest_is_told_with_whose_intervals_overlap() -> None:
    found = {
        "a": Estimate(0.9, 0.8, 1.0),
        "b": Estimate(0.85, 0.75, 0.9),
        "c": Estimate(0.5, 0.4, 0.6),
        "d": Estimate(0.4),
        "e": Estimate(None),
    }
    assert tell_highest("F1", found) == (
        "F1 is highest for a: 0.900 [0.800, 1.000]. "
        "Its interval overlaps with that of b; that of c lies below it; d has none."
    )
    assert tell_highest("F1", {"e": Estimate(None)}) == "Nothing has a value of F1."
    assert tell_highest("F1", {"d": found["d"]}) == "F1 is highest for d: 0.400."


@given(st.dictionaries(st.sampled_from("abcdef"), ESTIMATES, min_size=1))
def test_each_is_told_once(found: dict[str, Estimate]) -> None:
    told = tell_highest("It", found)
    words = told.replace(",", " ").replace(":", " ").replace(".", " ").replace(";", " ").split()
    for name in found:
        assert words.count(name) == 1


def test_policies_that_differ_are_told_with_how_much() -> None:
    questions = draw_questions(400)
    table = table_of(questions, SETTINGS, draw_scores(questions, SETTINGS))
    analysis = analyse(evaluation_of(questions, SETTINGS), table, ReportOptions(resamples=200))
    told = tell_differences(analysis, "F1")
    compared = analysis.compare(
        lambda each: lambda halved: halved.test.of("f1")[:, each.candidates[0]]
    )
    assert told.startswith(f"Of the other {len(compared)}, ")
    assert "no_retrieval (-0." in told
    alike = analyse(
        evaluation_of(questions, SETTINGS[:1] * 1), table_of(questions, SETTINGS[:1], [])
    )
    assert tell_differences(alike, "F1").startswith("None of the other 0 differs from no_retrieval")


def test_a_curve_is_told_by_its_ends_and_their_intervals() -> None:
    def series(*heights: float, wide: float) -> Series:
        points = tuple(
            Point(float(x), y, y_range=(y - wide, y + wide)) for x, y in enumerate(heights, 1)
        )
        return Series(f"wide {wide:g}", points)

    curves = (series(0.2, 0.6, 0.5, wide=0.1), series(0.2, 0.6, wide=0.3), series(0.4, 0.4, wide=0))
    figure = Figure("f", "F1 by k", "k", "F1", curves, "")
    assert tell_curve(figure) == [
        "wide 0.1: from 0.200 at k 1 to 0.600 at 2; the intervals of the two do not overlap.",
        "wide 0.3: from 0.200 at k 1 to 0.600 at 2; the intervals of the two overlap.",
        "wide 0: 0.400 at every k.",
    ]


def test_the_best_of_rows_and_columns_are_counted() -> None:
    columns = (Column("trigger", "trigger"), Column("x", "x", 3), Column("y", "y", 3))
    best_of_both = Cell(0.9, note="best of row, best of column")
    rows = (
        (Cell("one"), best_of_both, Cell(0.8, note="best of column")),
        (Cell("two"), Cell(0.6), Cell(0.7, note="best of row")),
    )
    assert tell_marks(Table("combinations", "All", columns, rows)) == (
        "Best trigger for a query: one for 2 of 2 queries, two for 0 of 2 queries. "
        "Best query for a trigger: x for 1 of 2 triggers, y for 1 of 2 triggers."
    )
