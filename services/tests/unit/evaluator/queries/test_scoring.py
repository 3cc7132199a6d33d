"""Recall and its differences, held to numbers worked out by hand."""

import pytest

from scaar.core.controls import Control
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.statistics.estimate import holm
from scaar.evaluator.studies.queries.comparison import FormulationComparison
from scaar.evaluator.studies.queries.drafts import DraftOrigin
from scaar.evaluator.studies.queries.exclusion import withheld_counts
from scaar.evaluator.studies.queries.formulations import Exclusion, plan_formulations
from scaar.evaluator.studies.queries.records import (
    CUTS,
    QueryEvaluation,
    QuestionRetrievals,
    Reading,
    Retrieval,
)
from scaar.evaluator.studies.queries.report import compose
from scaar.evaluator.studies.queries.scores import table_of
from scaar.evaluator.studies.queries.store import QueryResults

VARIANTS = plan_formulations(["question", "current_sentence"], [50], [None])


def results(requested, variants=VARIANTS):
    ids = [each.question_id for each in requested]
    evaluation = QueryEvaluation(
        *("1", "2026-01-01", DatasetOrigin("jsonl", "q", 0, len(ids), "c")),
        *(DraftOrigin("d", "draft", "s"), variants, {}, "films", "v", 9),
    )
    questions = tuple(Question(each, "Who?", ("A",), each, supports=("a", "b")) for each in ids)
    return QueryResults(evaluation, questions, tuple(requested))


def retrieval(sentence, ranks, words=4):
    readings = tuple(
        Reading(tuple(rank if rank <= cut else 0 for rank in ranks), passages=cut, fresh=cut - 1)
        for cut in CUTS
    )
    return Retrieval(sentence, "word " * words, readings)


ONE = QuestionRetrievals(
    "one",
    {
        "question": (retrieval(0, (1, 4)), retrieval(1, (1, 4))),
        "current_sentence": (retrieval(0, (0, 3), 2), retrieval(1, (6, 0), 6)),
    },
)
TWO = QuestionRetrievals(
    "two",
    {"question": (retrieval(0, (0, 10)),), "current_sentence": (retrieval(0, (1, 2), 8),)},
)
NONE = QuestionRetrievals("none", {"question": (), "current_sentence": ()})


def column(table, name):
    return {
        (setting.label, question.id): value
        for setting, row in zip(table.settings, table.column(name), strict=True)
        for question, value in zip(table.questions, row.tolist(), strict=True)
    }


def test_recall_is_the_mean_over_the_retrievals_of_a_question():
    table = table_of(results([ONE, TWO]))
    assert column(table, "recall@3") == {
        ("question", "one"): 0.5,
        ("question", "two"): 0.0,
        ("current_sentence", "one"): 0.25,
        ("current_sentence", "two"): 1.0,
    }
    assert column(table, "recall@5")["question", "one"] == 1.0
    assert column(table, "recall@10")["current_sentence", "one"] == 0.5
    assert column(table, "terms")["current_sentence", "one"] == 4.0


def test_new_supports_count_once_for_an_answer() -> None:
    table = table_of(results([ONE, TWO]))
    found = column(table, "new_per_answer@10")
    assert found["current_sentence", "one"] == 1.0
    assert found["question", "two"] == 0.5
    found = column(table, "new_per_retrieval@10")
    assert found["question", "one"] == 0.5  # The second retrieval finds both again.
    assert found["question", "two"] == 0.5


def test_passages_and_searches_are_counted_over_an_answer() -> None:
    fused = Retrieval(1, "word word", (Reading((0, 0)),) * 3, fused_with="word")
    retrievals = {"question": (retrieval(0, (1, 2)), fused), "current_sentence": (fused, fused)}
    table = table_of(results([QuestionRetrievals("one", retrievals)]))
    assert column(table, "distinct@5")["question", "one"] == 4.0
    assert column(table, "passages@5")["question", "one"] == 5.0
    searches = column(table, "searches_per_answer")
    assert (searches["question", "one"], searches["current_sentence", "one"]) == (3.0, 4.0)
    assert column(table, "terms")["current_sentence", "one"] == 3.0


def test_a_draft_that_only_concludes_is_left_out_of_the_mean():
    found = results([ONE, TWO, NONE])
    table = table_of(found)
    assert [each.id for each in table.questions] == ["one", "two"]
    report = compose(
        found, FormulationComparison(found.evaluation, table, resamples=20), reference="question"
    )
    assert "1 whose draft is a conclusion alone" in str(report.sections[0].items[0])


def test_recall_for_the_terms_spent_is_of_the_means():
    found = results([ONE, TWO])
    comparing = FormulationComparison(found.evaluation, table_of(found), resamples=20)
    question, sentence = comparing.per_terms("recall@3")
    assert question.value == pytest.approx(10 * 0.25 / 4)
    assert sentence.value == pytest.approx(10 * 0.625 / 6)


def test_differences_are_paired_and_corrected_over_their_lines():
    variants = plan_formulations(["question", "pfq"], [25, 50], [None])
    requested = [
        QuestionRetrievals(
            f"q{n}",
            {
                "question": (retrieval(0, (1, 1)),),
                "pfq:alpha=25": (retrieval(0, (0, 0)),),
                "pfq:alpha=50": (retrieval(0, (1, 1 if n % 2 else 0)),),
            },
        )
        for n in range(40)
    ]
    found = results(requested, variants)
    comparing = FormulationComparison(found.evaluation, table_of(found))
    worse, other = comparing.differences(comparing.to_reference("question"), "recall@5")
    assert (worse.value, worse.high) == (-1.0, -1.0)
    assert other.value == -0.25
    assert [worse.holm, other.holm] == holm([worse.p, other.p])
    assert worse.holm < 0.01


def test_a_formulation_is_held_against_itself_by_a_control():
    variants = plan_formulations(["pfq"], [50], [None, Control.IDF])
    found = results(
        [
            QuestionRetrievals(
                f"q{n}",
                {
                    "pfq:alpha=50": (retrieval(0, (1, 0)),),
                    "pfq:alpha=50,scorer=idf": (retrieval(0, (1, 2)),),
                },
            )
            for n in range(10)
        ],
        variants,
    )
    comparing = FormulationComparison(found.evaluation, table_of(found))
    assert comparing.to_controls() == (("pfq:alpha=50", "pfq:alpha=50,scorer=idf"),)
    report = compose(found, comparing, reference="pfq:alpha=50")
    (controls,) = [each for each in report.tables() if each.name == "controls"]
    assert controls.rows[0][2].value == -0.5


def test_exclusion_is_compared_with_none_and_with_its_control() -> None:
    variants = plan_formulations(["question"], [50], [None], tuple(Exclusion))
    none, seen, control = (each.label for each in variants)
    withheld = Retrieval(1, "word", (Reading((0, 0), 3, 3), Reading((0, 0), 5, 5, 1), Reading(())))
    kept = Retrieval(1, "word", (Reading((0, 0)), Reading((0, 2), 5, 5, 1), Reading(())))
    requested = [
        QuestionRetrievals(
            f"q{n}",
            {
                none: (retrieval(0, (1, 0)), retrieval(1, (1, 0))),
                seen: (retrieval(0, (1, 4)), retrieval(1, (1, 0))),
                control: (retrieval(0, (1, 4)), retrieval(1, (1, 0))),
            },
        )
        for n in range(10)
    ]
    found = results(requested, variants)
    comparing = FormulationComparison(found.evaluation, table_of(found), resamples=20)
    assert comparing.to_exclusions() == ((seen, none), (seen, control))
    report = compose(found, comparing, reference=none)
    (differences,) = [each for each in report.tables() if each.name == "exclusion"]
    by_cut = [row[4].value for row in differences.rows]
    assert by_cut == [0.5, 0.0]
    assert withheld_counts([retrieval(0, (1, 2)), withheld, kept]) == (3, 2, 1)
