"""Fixtures of the tests of the command line."""

from pathlib import Path

import pytest

from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    EffectivePolicy,
    JudgedWord,
    Moment,
    PassagesRetrieved,
    Provenance,
    Query,
    QueryBuilt,
    QuerySettings,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    SettingSource,
    Token,
    TokenDrafted,
    Usage,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder for this test."""
    folder = tmp_path / "home"
    monkeypatch.setenv("SCAAR_HOME", str(folder))
    return folder


@pytest.fixture
def answered() -> list[AnswerEvent]:
    """An answer with one uncertain word, one retrieval and a sentence written again."""
    policy = EffectivePolicy(
        name="scaar",
        moments=(Moment.UNCERTAIN_DRAFT,),
        trigger="exp_raw",
        theta=0.2,
        theta_cap=1.0,
        query=QuerySettings("pfq", include_question=True),
        top_k=3,
        sources=(("theta", SettingSource.MODEL), ("alpha", SettingSource.PAPER)),
    )
    provenance = Provenance(
        request_id="r-1",
        model="lab-lm",
        model_revision="abc",
        engine="onnx",
        scorer="lab-cross-encoder",
        scorer_revision="def",
        index="lab",
        index_version="v1",
        prompt_profile="lab@1",
        policy=policy,
    )
    words = (
        JudgedWord("Ada", 1, 4, 0.98, 0.25, uncertain=False, contribution=0.1),
        JudgedWord("[Paris].", 5, 13, None, 0.95, uncertain=True, contribution=0.2),
    )
    passage = RetrievedPassage("p1", "[Ada]", "Ada was [bold]born[/] in London.", 1.5, 1)
    first = AcceptedSentence(" Ada [London].", ("p1",))
    last = AcceptedSentence(" So the answer is London 🙂.", concluding=True)
    usage = Usage(1, 3, 17, 230, 12.5)
    answer = Answer("London 🙂", (first, last), AnswerEnd.ANSWER_PHRASE, usage, provenance)
    return [
        AnswerStarted(provenance),
        TokenDrafted(0, Token(1, " Ada", 0, 4, -0.02)),
        TokenDrafted(0, Token(2, " [Paris].", 4, 13)),
        SentenceJudged(0, " Ada [Paris].", words, 1, retrieving=True),
        QueryBuilt(0, Query("Where was Ada [born]? Ada", "pfq", (0,))),
        PassagesRetrieved(0, "lab", "v1", (passage,)),
        SentenceRegenerated(0, " Ada [Paris].", first.text),
        SentenceAccepted(0, first, 0, 14),
        TokenDrafted(1, Token(3, " So the answer is London 🙂.", 0, 27, -0.01)),
        SentenceAccepted(1, last, 14, 41),
        AnswerFinished(answer),
    ]
