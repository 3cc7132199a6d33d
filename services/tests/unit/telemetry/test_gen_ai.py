"""Attributes by OpenTelemetry's conventions for generative AI."""

import json

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as published

from scaar.core.types import AnswerEnd, FinishReason, Message, MessageRole, RetrievedPassage
from scaar.telemetry import gen_ai


def test_the_names_are_those_of_the_published_conventions() -> None:
    names = {value for name, value in vars(gen_ai).items() if name.isupper()}
    ours = {each for each in names if str(each).startswith("gen_ai.")}
    assert ours <= {value for name, value in vars(published).items() if name.isupper()}
    operations = {each.value for each in published.GenAiOperationNameValues}
    assert {gen_ai.INVOKE_AGENT, gen_ai.TEXT_COMPLETION, gen_ai.RETRIEVAL} <= operations


def test_passages_have_ids_and_scores_and_texts_only_on_request() -> None:
    passages = [
        RetrievedPassage("p1", "Ada", "Ada “Lovelace” was born in London.", 2.5, 1),
        RetrievedPassage("p2", "Ada", "x" * (gen_ai.MAX_CONTENT + 1), 1.0, 2),
    ]
    assert json.loads(gen_ai.documents(passages, content=False)) == [
        {"id": "p1", "score": 2.5},
        {"id": "p2", "score": 1.0},
    ]
    first, second = json.loads(gen_ai.documents(passages, content=True))
    assert (first["title"], first["content"]) == ("Ada", "Ada “Lovelace” was born in London.")
    assert second["content"] == "x" * gen_ai.MAX_CONTENT + "…"
    assert gen_ai.documents([], content=True) == "[]"


def test_messages_keep_their_order_and_roles() -> None:
    messages = [Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, "Who?")]
    found = json.loads(gen_ai.input_messages(messages))
    assert [each["role"] for each in found] == ["system", "user"]
    assert found[1]["parts"] == [{"type": "text", "content": "Who?"}]


def test_only_a_limit_of_tokens_is_reported_as_a_cut_text() -> None:
    cut = {end for end in (*AnswerEnd, *FinishReason) if gen_ai.finish_reason(end) == "length"}
    assert cut == {AnswerEnd.MAX_TOKENS, FinishReason.LENGTH}
