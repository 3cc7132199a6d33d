"""The Go example of docs/clients.md, generated, compiled and run as the page says."""

from pathlib import Path

from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    EffectivePolicy,
    Moment,
    PassagesRetrieved,
    Provenance,
    QuerySettings,
    RetrievedPassage,
    Usage,
)
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.sockets import serving
from scaar.wire.orchestrator import OrchestratorServicer

from .clients_page import run_go_example


def script(request: AnswerRequest) -> list[AnswerEvent]:
    query = QuerySettings("pfq", include_question=True)
    policy = EffectivePolicy("scaar", (Moment.UNCERTAIN_DRAFT,), 0.25, 1.0, query, 3, "flare")
    provenance = Provenance("r", "lm", "1", "fake", "", "", "lab", "v1", "lab", policy)
    sentences = (AcceptedSentence("So the answer is London."),)
    usage = Usage(7, 1, 2, 3, 4.0)
    answer = Answer("London", sentences, AnswerEnd.ANSWER_PHRASE, usage, provenance)
    passage = RetrievedPassage("p1", "A title", "A text.", 1.0, 1)
    return [
        AnswerStarted(provenance),
        PassagesRetrieved(0, "lab", "v1", (passage,)),
        AnswerFinished(answer),
    ]


async def test_the_go_example_compiles_and_answers(tmp_path: Path) -> None:
    answerer = ScriptedAnswerer(script)
    async with serving(OrchestratorServicer(answerer)) as (_, target):
        reported = await run_go_example(tmp_path, f"dns:///{target}")
    assert reported == ["A title", "London 7"]
    assert answerer.requests[0].policy.overrides.theta == 0.25
