import re

from hypothesis import given
from hypothesis import strategies as st

from record.sentences import (
    chosen_sentence,
    curve_sentences,
    differences_sentence,
    highest_sentence,
    marks_sentence,
    matched_sentence,
)
from scaar.evaluator.report.analysis import analyse
from scaar.evaluator.report.model import Cell, Column, Figure, Point, ReportOptions, Series, Table
from scaar.evaluator.statistics.estimate import Estimate

from ..evaluator.simulated import SETTINGS, draw_questions, draw_scores, evaluation_of, table_of

SHARES = st.floats(0, 1)
ESTIMATES = st.tuples(SHARES, SHARES, SHARES).map(
    lambda three: Estimate(sorted(three)[1], min(three), max(three))
)


def no_pair(name: str, best: str) -> Estimate:
    raise AssertionError(f"{name} and {best} are not compared")


def test_the_highest_value_is_reported_with_paired_differences() -> None:
    found = {
        "a": Estimate(0.9, 0.8, 1.0),
        "b": Estimate(0.88, 0.78, 0.98),
        "c": Estimate(0.85, 0.75, 0.9),
        "d": Estimate(0.4),
        "e": Estimate(None),
    }
    # The intervals of a and b overlap, and yet the paired difference excludes 0.
    differences = {
        "b": Estimate(-0.02, -0.04, -0.003),
        "c": Estimate(-0.05, -0.12, 0.01),
        "d": Estimate(-0.5),
    }

    def paired(name: str, best: str) -> Estimate:
        assert best == "a"
        return differences[name]

    assert highest_sentence("F1", found, paired) == (
        "F1 is highest for a: 0.900 [0.800, 1.000]. The paired 95% interval of the difference "
        "from a excludes 0 for b (-0.020); it includes 0 for c (-0.050); it is undefined for d."
    )
    assert highest_sentence("F1", {"e": Estimate(None)}, no_pair) == "Nothing has a value of F1."
    assert highest_sentence("F1", {"d": found["d"]}, no_pair) == "F1 is highest for d: 0.400."


@given(st.dictionaries(st.sampled_from("bcdefg"), ESTIMATES, min_size=1))
def test_each_name_is_in_one_list(found: dict[str, Estimate]) -> None:
    def paired(name: str, best: str) -> Estimate:
        return Estimate((found[name].value or 0) - (found[best].value or 0), -1.0, 1.0)

    sentence = highest_sentence("It", found, paired)
    words = re.findall(r"\b[b-g]\b", sentence)
    best = words[0]
    assert sorted(each for each in words if each != best) == sorted(set(found) - {best})


def test_the_sentences_of_an_analysis_use_its_paired_differences() -> None:
    questions = draw_questions(400)
    table = table_of(questions, SETTINGS, draw_scores(questions, SETTINGS))
    analysis = analyse(evaluation_of(questions, SETTINGS), table, ReportOptions(resamples=200))
    for sentence in (chosen_sentence(analysis, "F1"), matched_sentence(analysis, "F1", 1.0)):
        assert " is highest for " in sentence
        assert "The paired 95% interval of the difference from " in sentence
        assert "overlap" not in sentence


def test_policies_that_differ_are_reported_with_their_differences() -> None:
    questions = draw_questions(400)
    table = table_of(questions, SETTINGS, draw_scores(questions, SETTINGS))
    analysis = analyse(evaluation_of(questions, SETTINGS), table, ReportOptions(resamples=200))
    sentence = differences_sentence(analysis, "F1")
    compared = analysis.compare(
        lambda each: lambda splits: splits.test.of("f1")[:, each.candidates[0]]
    )
    assert sentence.startswith(f"Of the other {len(compared)}, ")
    assert "no_retrieval (-0." in sentence
    alike = analyse(
        evaluation_of(questions, SETTINGS[:1] * 1), table_of(questions, SETTINGS[:1], [])
    )
    assert differences_sentence(alike, "F1").startswith(
        "None of the other 0 differs from no_retrieval"
    )


def test_a_curve_is_reported_by_its_ends_with_their_intervals() -> None:
    def series(*heights: float, wide: float) -> Series:
        points = tuple(
            Point(float(x), y, y_range=(y - wide, y + wide)) for x, y in enumerate(heights, 1)
        )
        return Series(f"wide {wide:g}", points)

    curves = (series(0.2, 0.6, 0.5, wide=0.1), series(0.2, 0.6, wide=0.3), series(0.4, 0.4, wide=0))
    figure = Figure("f", "F1 by k", "k", "F1", curves, "")
    assert curve_sentences(figure) == [
        "wide 0.1: from 0.200 [0.100, 0.300] at k 1 to 0.600 [0.500, 0.700] at 2.",
        "wide 0.3: from 0.200 [-0.100, 0.500] at k 1 to 0.600 [0.300, 0.900] at 2.",
        "wide 0: 0.400 at every k.",
    ]


def test_the_best_of_rows_and_columns_are_counted() -> None:
    columns = (Column("trigger", "trigger"), Column("x", "x", 3), Column("y", "y", 3))
    best_of_both = Cell(0.9, note="best of row, best of column")
    rows = (
        (Cell("one"), best_of_both, Cell(0.8, note="best of column")),
        (Cell("two"), Cell(0.6), Cell(0.7, note="best of row")),
    )
    assert marks_sentence(Table("combinations", "All", columns, rows)) == (
        "Best trigger for a query: one for 2 of 2 queries, two for 0 of 2 queries. "
        "Best query for a trigger: x for 1 of 2 triggers, y for 1 of 2 triggers."
    )
