"""The events of an answer: which there are, and in which order."""

from itertools import pairwise

import grpc
import pytest

from scaar.v1.answer_pb2 import AnswerEvent
from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import Access
from .client import PATIENCE_S, events, request, stream_request

FOLLOWS = {
    "started": {"token_drafted", "query_built"},
    "token_drafted": {
        *("token_drafted", "sentence_judged", "query_built", "sentence_accepted"),
        "answer_drafted",
    },
    "answer_drafted": {"query_built"},
    "sentence_judged": {"query_built", "sentence_accepted", "token_drafted"},
    "query_built": {"passages_retrieved"},
    "passages_retrieved": {"sentence_regenerated", "token_drafted", "sentence_accepted"},
    "sentence_regenerated": {"sentence_accepted", "token_drafted"},
    "sentence_accepted": {"token_drafted", "query_built", "sentence_accepted", "finished"},
}
"""What may come after what."""


def kinds(reported: list[AnswerEvent]) -> list[str]:
    return [str(each.WhichOneof("event")) for each in reported]


@pytest.mark.parametrize(
    "policy", ["scaar", "flare", "single_round", "ircot", "iter_retgen", "no_retrieval"]
)
async def test_every_decision_is_an_event_in_order(
    access: Access, channel: grpc.aio.Channel, policy: str
) -> None:
    seen = [each.event for each in await events(channel, request(access, policy))]
    reported = kinds(seen)
    assert (reported[0], reported[-1], reported.count("finished")) == ("started", "finished", 1)
    assert [pair for pair in pairwise(reported) if pair[1] not in FOLLOWS[pair[0]]] == []
    answer = seen[-1].finished.answer
    accepted = [each.sentence_accepted for each in seen if each.HasField("sentence_accepted")]
    assert [each.sentence for each in accepted] == list(range(len(accepted)))
    assert [each.accepted for each in accepted] == list(answer.sentences)
    assert (
        reported.count("query_built")
        == reported.count("passages_retrieved")
        == answer.usage.retrievals
    )
    assert seen[0].started.provenance == answer.provenance
    retrieved = [each.passages_retrieved for each in seen if each.HasField("passages_retrieved")]
    for found in retrieved:
        assert [each.rank for each in found.passages] == list(range(1, len(found.passages) + 1))
        scores = [each.score for each in found.passages]
        assert scores == sorted(scores, reverse=True)


async def test_a_sentence_is_retrieved_for_where_a_word_is_below_its_threshold(
    access: Access, channel: grpc.aio.Channel
) -> None:
    seen = [each.event for each in await events(channel, request(access))]
    judged = [each.sentence_judged for each in seen if each.HasField("sentence_judged")]
    assert judged
    for sentence in judged:
        uncertain = [at for at, word in enumerate(sentence.words) if word.uncertain]
        below = [
            at
            for at, word in enumerate(sentence.words)
            if word.uncertain and word.probability < word.threshold
        ]
        assert below == uncertain
        assert sentence.HasField("trigger") == bool(uncertain)
        assert not uncertain or sentence.trigger == uncertain[0]
        assert all(word.HasField("contribution") for word in sentence.words)
    looked_up = [each.sentence for each in judged if each.retrieving]
    assert [each.query_built.sentence for each in seen if each.HasField("query_built")] == looked_up


async def test_the_request_id_comes_back_in_the_metadata_and_in_the_answer(
    access: Access, channel: grpc.aio.Channel
) -> None:
    requested = stream_request(request(access, "no_retrieval"))
    requested.request_id = "outside-1"
    call = OrchestratorServiceStub(channel).StreamAnswer(requested, timeout=PATIENCE_S)
    first = await anext(aiter(call))
    assert first.event.started.provenance.request_id == "outside-1"
    assert dict(await call.initial_metadata())["x-request-id"] == "outside-1"
    call.cancel()
