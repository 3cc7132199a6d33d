"""Chunks of every dialect are parsed alike, and invalid chunks are reported."""

import json
import sys
from typing import Any

import pytest
from openai.types import Completion, CompletionUsage
from openai.types.chat import ChatCompletionChunk
from openai.types.completion_usage import PromptTokensDetails

from scaar.core.types import TopToken
from scaar.generator.engines.openai_server.chunks import Chunk, Delta, read_chunk
from scaar.generator.engines.served.text import ServedToken


def completion(**choice: Any) -> Chunk:
    given = {"index": 0, "text": "", "finish_reason": None, "logprobs": None, **choice}
    return Completion.construct(id="1", object="text_completion", choices=[given])


def chat(**choice: Any) -> Chunk:
    given = {"index": 0, "delta": {}, "finish_reason": None, "logprobs": None, **choice}
    return ChatCompletionChunk.construct(id="1", object="chat.completion.chunk", choices=[given])


def arrays(tokens: list[str], logprobs: list[Any], **more: Any) -> dict[str, Any]:
    return {"tokens": tokens, "token_logprobs": logprobs, **more}


def content(token: str, logprob: Any, **more: Any) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "top_logprobs": [], **more}


def test_arrays_and_content_say_the_same() -> None:
    found_events = Delta(" Ada", (ServedToken(0, " Ada", -0.5),))
    offsets = {"text_offset": [-1], "top_logprobs": [{" Ada": -0.5}]}
    one = completion(text=" Ada", logprobs=arrays([" Ada"], [-0.5], **offsets))
    two = completion(text=" Ada", logprobs={"content": [content(" Ada", -0.5)]})
    three = chat(delta={"content": " Ada"}, logprobs={"content": [content(" Ada", -0.5)]})
    assert [read_chunk(each, top_tokens=0) for each in (one, two, three)] == [found_events] * 3


def test_the_requested_number_of_alternatives_is_returned() -> None:
    top = {" Bob": -2.0, " Ada": -0.5, " Eve": -9999.0}
    likely = [{"token": token, "logprob": logprob} for token, logprob in top.items()]
    one = completion(logprobs=arrays([" Ada"], [-0.5], top_logprobs=[top]))
    two = chat(logprobs={"content": [content(" Ada", -0.5, top_logprobs=likely)]})
    for chunk in (one, two):
        for count, expected in ((0, ()), (1, (" Ada",)), (5, (" Ada", " Bob"))):
            (token,) = read_chunk(chunk, top_tokens=count).tokens
            assert tuple(each.text for each in token.top) == expected
    assert token.top[0] == TopToken(0, " Ada", -0.5)


@pytest.mark.parametrize(
    "number", [None, -9999.0, -9999, -sys.float_info.max, -1e5, float("-inf"), float("nan")]
)
def test_the_number_for_minus_infinity_is_a_missing_log_probability(number: float | None) -> None:
    for chunk in (
        completion(logprobs=arrays([" Ada"], [number])),
        chat(logprobs={"content": [content(" Ada", number)]}),
    ):
        assert read_chunk(chunk, top_tokens=1).tokens == (ServedToken(0, " Ada"),)


def test_a_log_probability_a_hair_above_zero_is_zero() -> None:
    (token,) = read_chunk(completion(logprobs=arrays(["a"], [1e-7])), top_tokens=0).tokens
    assert token.logprob == 0.0


def test_bytes_stand_before_an_escaped_form_of_them() -> None:
    found_events = [
        content("\\xc3", -1.0, bytes=[0xC3]),
        content("\\xe9", -1.0, bytes=[0xC3, 0xA9]),
    ]
    delta = read_chunk(chat(logprobs={"content": found_events}), top_tokens=0)
    assert [token.text for token in delta.tokens] == ["\N{REPLACEMENT CHARACTER}", "é"]


def test_ids_are_given_where_the_server_gives_them() -> None:
    found_events = completion(logprobs={"content": [content(" Ada", -0.5, id=7, bytes=[32, 65])]})
    assert read_chunk(found_events, top_tokens=0).tokens == (ServedToken(7, " A", -0.5),)


def test_usage_comes_with_any_chunk_and_alone_with_the_last() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    last = Completion.construct(id="1", object="text_completion", choices=[], usage=usage)
    assert read_chunk(last, top_tokens=0) == Delta(prompt_tokens=3, generated_tokens=2)
    timed = Completion.construct(id="1", choices=[], timings={"prompt_n": 1, "cache_n": 9})
    assert read_chunk(timed, top_tokens=0) == Delta(prompt_tokens=10, evaluated_tokens=1)


def test_tokens_that_the_server_had_cached_are_not_evaluated() -> None:
    details = PromptTokensDetails(cached_tokens=20)
    usage = CompletionUsage(
        prompt_tokens=25, completion_tokens=2, total_tokens=27, prompt_tokens_details=details
    )
    last = Completion.construct(id="1", object="text_completion", choices=[], usage=usage)
    given = read_chunk(last, top_tokens=0)
    assert (given.prompt_tokens, given.evaluated_tokens) == (25, 5)
    timed = Completion.construct(
        id="1", choices=[], usage=usage, timings={"prompt_n": 4, "cache_n": 21}
    )
    assert read_chunk(timed, top_tokens=0).evaluated_tokens == 4


@pytest.mark.parametrize(
    "body",
    [
        {"object": "error", "message": "out of memory", "code": 500},
        {"choices": [{"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": []}}]},
        {"choices": [{"text": "a", "logprobs": {"content": [7]}}]},
        {"choices": [{"text": "a", "logprobs": {"content": [{"token": "a", "logprob": "x"}]}}]},
        {"choices": [{"text": "a", "logprobs": arrays(["a"], ["x"])}]},
        {"choices": 3},
        {"choices": [], "usage": {"prompt_tokens": None}},
        {"choices": [], "timings": {"prompt_n": 1e999, "cache_n": 0}},
        {"choices": [], "prompt_progress": {"total": 10}},
    ],
    ids=json.dumps,
)
def test_an_unknown_format_is_reported(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a chunk"):
        read_chunk(Completion.construct(**body), top_tokens=0)
