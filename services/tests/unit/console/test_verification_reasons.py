"""Why an answer that is checked by its passages was looked up again, given or not given."""

from dataclasses import replace

import pytest

from scaar.console.blocks import Blocks, sections_of
from scaar.console.judgement_reasons import judgement_reason
from scaar.console.rendering import templates
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import (
    AnswerDrafted,
    AnswerEvent,
    AnswerStarted,
    EffectivePolicy,
    JudgedWord,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    Query,
    QueryBuilt,
    RetrievedPassage,
    SentenceJudged,
)
from scaar.testing.fakes import SCRIPTED_MODEL
from scaar.testing.gateways import PROVENANCE


def policy(name: str = "verified", **settings: object) -> EffectivePolicy:
    overrides = PolicyOverrides(**settings)  # type: ignore[arg-type]
    return effective_policy(PolicyRequest(name, overrides), SCRIPTED_MODEL)


def judged(
    *values: tuple[str, float],
    retrieving: bool = False,
    abstains: bool = False,
    theta: float = 0.4,
) -> SentenceJudged:
    words = tuple(
        JudgedWord(text, 0, 1, 0.9, theta, uncertain=value > theta, value=value)
        for text, value in values
    )
    trigger = next((at for at, word in enumerate(words) if word.uncertain), None)
    text = " ".join(text for text, _ in values)
    return SentenceJudged(0, text, words, trigger, retrieving, abstains=abstains)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (
            judged(("port", 0.0), ("3306,", 1.0), ("MySQL.", 1.0), retrieving=True),
            "It searched again because this was not found in the passages read: “3306”, “MySQL”. "
            "One number, name or code is enough, or more than 40% of the new words.",
        ),
        (
            judged(("server", 0.75), ("listens", 0.75), ("often", 0.0)),
            "It did not give the answer because this was not found in the passages read: "
            "“server”, “listens”. That is 75% of the new words, above the threshold 40%.",
        ),
        (
            judged(("server", 0.25), ("often", 0.0)),
            "It gave the answer, although this was not found in the passages read: “server”. That "
            "is 25% of the new words, not above the threshold 40%.",
        ),
        (
            judged(("port", 0.0)),
            "It gave the answer, because no word of it that counts is missing from the passages "
            "read.",
        ),
        (
            judged(retrieving=True, abstains=True),
            "It searched again, because the answer says that the model does not know.",
        ),
        (judged(abstains=True), "The answer says that the model does not know."),
    ],
)
def test_a_verification_names_what_was_not_found(event: SentenceJudged, text: str) -> None:
    assert judgement_reason(event, policy()).text == text


def test_the_first_of_many_words_are_named_those_that_decide_before_the_others() -> None:
    event = judged(*((f"w{at}", 0.3) for at in range(7)), ("w1", 0.3), ("3306", 1.0))
    reason = judgement_reason(event, policy())
    assert reason.words == ("“3306”", "“w0”", "“w1”", "“w2”", "“w3”")
    assert reason.after.startswith(" and 3 more. ")


@pytest.mark.parametrize(
    ("retrieving", "start"),
    [
        (True, "It searched because this was not found in the passages read: “3306”."),
        (False, "It kept the draft, because the budget of retrievals is used up, although this"),
    ],
)
def test_a_sentence_that_is_verified_is_a_draft(retrieving: bool, start: str) -> None:
    event = judged(("3306", 1.0), retrieving=retrieving)
    assert judgement_reason(event, policy("flare", trigger="unsupported")).text.startswith(start)


def test_the_judgement_of_an_answer_is_shown_with_its_round_and_search() -> None:
    query = QueryBuilt(0, Query("Which port?", "question"))
    events: list[AnswerEvent] = [
        AnswerStarted(replace(PROVENANCE, policy=policy())),
        query,
        PassagesRetrieved(0, "docs", "1", (RetrievedPassage("p", "", "", 1.0, 1),)),
        judged(("3306", 1.0), retrieving=True),
        AnswerDrafted(1, "3306"),
        query,
        PassagesRetrieved(0, "docs", "1", (RetrievedPassage("q", "", "", 1.0, 1),)),
        judged(("3306", 1.0)),
    ]
    blocks = Blocks()
    sections = sections_of(events, blocks)
    assert [heading for heading, _ in sections] == ["Before writing", "Round 1", "Round 2"]
    module = templates().get_template("blocks.html").module
    pages = ["".join(str(module.block(block)) for block in held) for _, held in sections]  # type: ignore[attr-defined]
    assert "It searched again because this was not found in the passages read" in pages[1]
    assert pages[1].count("It searched") == 1
    assert "It did not give the answer" in pages[2]
    assert blocks.searches.writing_heading(0) == "Round 2"
