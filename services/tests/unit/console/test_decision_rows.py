"""The table of the decisions of an answer."""

from scaar.console.decision_rows import decision_table
from scaar.core.types import (
    AcceptedSentence,
    AnswerDrafted,
    AnswerEvent,
    Degradation,
    JudgedWord,
    PassagesRetrieved,
    Query,
    QueryBuilt,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
)

UNSURE = JudgedWord("Borric", 4, 10, probability=0.12, threshold=0.27, uncertain=True)
SURE = JudgedWord("The", 0, 3, probability=0.99, threshold=0.27, uncertain=False)


def judged(sentence: int, *, trigger: int | None) -> SentenceJudged:
    retrieving = trigger is not None
    return SentenceJudged(sentence, " The Borric.", (SURE, UNSURE), trigger, retrieving)


def accepted(sentence: int, degraded: Degradation | None = None) -> SentenceAccepted:
    return SentenceAccepted(sentence, AcceptedSentence(" The end.", degraded=degraded), 0, 9)


def texts(*events: AnswerEvent) -> list[list[str]]:
    rows = decision_table(events).rows
    return [[each.text or each.marks[0].text for each in row] for row in rows]


def test_a_retrieval_has_its_word_its_query_and_its_passages() -> None:
    found = PassagesRetrieved(0, "lab", "1", (RetrievedPassage("p1", "", "", 1.0, 1),))
    query = QueryBuilt(0, Query("Who? Borric", "pfq"))
    table = decision_table([judged(0, trigger=1), query, found, accepted(0)])
    (row,) = table.rows
    assert [each.text for each in row] == [
        *("1", "The Borric.", "", "Borric", "Who? Borric", "1", "The end.")
    ]
    assert row[2].marks[0].text == "retrieved"
    assert row[3].note == "P′ 0.12 < threshold 0.27"
    assert row[5].note == "p1"


def test_a_certain_draft_and_a_sentence_without_a_draft_have_rows() -> None:
    found = texts(judged(0, trigger=None), accepted(0), accepted(1))
    assert [row[2] for row in found] == ["certain", "no retrieval"]


def test_an_uncertain_draft_beyond_the_budget_says_so() -> None:
    assert texts(judged(0, trigger=1), accepted(0))[0][2] == "uncertain, budget used up"


def test_a_degraded_sentence_names_the_failure() -> None:
    failure = Degradation("retrieve", "BACKEND_UNAVAILABLE", "no answer")
    events = [judged(0, trigger=1), QueryBuilt(0, Query("q", "pfq")), accepted(0, failure)]
    (row,) = decision_table(events).rows
    assert row[2].marks[0].text == "search failed"
    assert row[6].note == "BACKEND_UNAVAILABLE in retrieve"


def test_an_answer_that_is_written_again_has_rows_for_every_time() -> None:
    again = AnswerDrafted(1, "The Borric.")
    found = texts(judged(0, trigger=1), again, judged(0, trigger=None), accepted(0))
    assert [row[0] for row in found] == ["1", "1"]
