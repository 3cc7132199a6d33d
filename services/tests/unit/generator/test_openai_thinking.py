"""Thoughts of a model: removed from its answer, bounded, and counted separately."""

from typing import Any

import pytest

from scaar.core.errors import CapabilityMissing
from scaar.core.types import FinishReason
from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.openai_server.thinking import ThinkingFilter
from scaar.generator.engines.served.text import ServedToken
from scaar.generator.factory import open_generator
from scaar.lab_servers.openai import open_openai_server
from scaar.lab_servers.openai_failures import Failure

from .openai_servers import end_of, opened, settings_of, text_of, tokens_of, write

FIELDS = ("vllm", "sglang", "llama_cpp", "generic")


def token(text: str, logprob: float = -1.0) -> ServedToken:
    return ServedToken(0, text, logprob)


def filtered(*deltas: Delta, max_tokens: int = 100) -> tuple[str, list[str], int]:
    """The answer's text, the texts of its tokens, and the number of tokens of the thoughts."""
    thinking = ThinkingFilter(max_tokens)
    found = [thinking.feed(delta) for delta in deltas]
    tokens = [token.text for delta in found for token in delta.tokens]
    return "".join(delta.text for delta in found), tokens, thinking.tokens


def texts(*words: str) -> list[Delta]:
    return [Delta(text=word, tokens=(token(word),)) for word in words]


def test_a_text_without_thoughts_is_unchanged() -> None:
    words = (" Ada", " wrote", " <b>", " and", " a < b.")
    assert filtered(*texts(*words)) == ("".join(words), list(words), 0)


def test_tags_are_found_however_they_are_split() -> None:
    split = ("\n", "<th", "ink", ">", " So", " <", "/think", ">", "\n\n", "Ada", ".")
    assert filtered(*texts(*split)) == ("Ada.", ["Ada", "."], 9)
    assert filtered(*texts("<think> So</think>\n\nAda", ".")) == ("Ada.", ["."], 1)
    assert filtered(*texts("<think>", "</think>", "Ada")) == ("Ada", ["Ada"], 2)


def test_a_beginning_of_a_tag_is_text_once_it_is_none() -> None:
    assert filtered(*texts("<", "th", "ird>")) == ("<third>", ["<", "th", "ird>"], 0)
    last = Delta(text="<", tokens=(token("<"),), finish_reason="length")
    assert filtered(last) == ("<", ["<"], 0)


def test_the_tokens_of_a_chunk_with_both_are_those_that_write_the_answer() -> None:
    both = Delta(
        text=" Ada", thinking=" So", tokens=(token(" So"), token("</think>"), token(" Ada"))
    )
    assert filtered(both, *texts(" wrote")) == ("Ada wrote", [" Ada", " wrote"], 2)
    without = Delta(text="Ada", thinking=" So", tokens=(token(" So"),))
    assert filtered(without) == ("Ada", [], 1)


def test_tokens_without_text_after_a_thought_belong_to_the_thought() -> None:
    thought = Delta(thinking=" So", tokens=(token(" So"),))
    closing = Delta(tokens=(token("</think>"),))
    assert filtered(thought, closing, *texts("Ada")) == ("Ada", ["Ada"], 2)


def test_an_end_without_a_start_is_an_error_that_names_the_parser() -> None:
    with pytest.raises(CapabilityMissing, match="start its server with a parser of its reasoning"):
        filtered(*texts(" So", "</think>", "Ada"))


def test_more_thoughts_than_the_budget_are_an_error_that_names_the_setting() -> None:
    thought = Delta(thinking=" So", tokens=(token(" So"),))
    assert filtered(*[thought] * 3, max_tokens=3)[2] == 3
    with pytest.raises(CapabilityMissing, match="SCAAR_GENERATOR_MAX_THINKING_TOKENS"):
        filtered(*[thought] * 4, max_tokens=3)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [*FIELDS, "openai"])
async def test_thinking_is_switched_off_by_request(dialect: Any) -> None:
    async with (
        open_openai_server(dialect=dialect, fail=[Failure.THINKS]) as server,
        open_generator(settings_of(server.url, openai_api="chat")) as generator,
    ):
        events = await write(generator)
        assert server.generations.accepted[-1].thinking_off
        assert (end_of(events).generated_tokens, end_of(events).thinking_tokens) == (12, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "openai_api", "kind", "count"),
    [
        *((dialect, "chat", Failure.THINKS_ALWAYS, 7) for dialect in FIELDS),
        # Its thoughts are hidden, and their number is known only of a text that it ends itself.
        ("openai", "chat", Failure.THINKS_ALWAYS, 0),
        ("vllm", "chat", Failure.THINK_TAGS, 12),
        ("generic", "completions", Failure.THINK_TAGS, 12),
    ],
)
async def test_thoughts_are_split_off_and_the_answer_has_its_own_tokens_and_log_probabilities(
    dialect: Any, openai_api: str, kind: Failure, count: int
) -> None:
    async with (
        open_openai_server(dialect=dialect) as plain,
        open_openai_server(dialect=dialect, fail=[kind]) as server,
        open_generator(settings_of(plain.url, openai_api=openai_api)) as expected,
        open_generator(settings_of(server.url, openai_api=openai_api)) as generator,
    ):
        whole, found = await write(expected), await write(generator)
        assert text_of(found).lstrip() == text_of(whole).lstrip()
        assert [each.logprob for each in tokens_of(found)] == [
            each.logprob for each in tokens_of(whole)
        ]
        end = end_of(found)
        assert (end.finish_reason, end.generated_tokens) == (FinishReason.LENGTH, 12)
        assert end.thinking_tokens == count


@pytest.mark.slow
async def test_what_follows_a_thought_is_separated_from_the_text_before_it() -> None:
    async with (
        open_openai_server(dialect="vllm", fail=[Failure.THINKS_ALWAYS]) as server,
        open_generator(settings_of(server.url, openai_api="chat")) as generator,
    ):
        found = text_of(await write(generator, prefix=" The film The Haunted Fountain was"))
    assert found.startswith(" ")
    assert not found.startswith("  ")


@pytest.mark.slow
async def test_a_model_that_starts_to_think_later_is_given_tokens_for_it() -> None:
    async with opened("vllm", openai_api="chat") as both:
        whole = await write(both.generator)
        both.server.failures.inject(Failure.THINKS_ALWAYS)
        found = await write(both.generator, max_tokens=5)
        assert text_of(whole).lstrip().startswith(text_of(found))
        assert len(tokens_of(found)) == 5
        assert len(both.server.generations.accepted) == 3
        await write(both.generator, max_tokens=5)
        assert len(both.server.generations.accepted) == 4


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["vllm", "openai"])
async def test_a_model_that_never_ends_to_think_is_refused_with_the_setting(dialect: Any) -> None:
    async with open_openai_server(dialect=dialect, fail=[Failure.THINKS_ALWAYS]) as server:
        settings = settings_of(server.url, openai_api="chat", max_thinking_tokens=2)
        with pytest.raises(CapabilityMissing, match="SCAAR_GENERATOR_MAX_THINKING_TOKENS"):
            async with open_generator(settings) as generator:
                await write(generator, max_tokens=4)
