"""Text of the system in a chat of a server, and before the prompt of an embedded chat model."""

from dataclasses import replace
from typing import Any

import pytest

from scaar.core.errors import CapabilityMissing
from scaar.core.types import Capability
from scaar.lab_servers.openai_failures import Failure

from . import openai_servers
from .test_attention import sentence_piece

ASKED: dict[str, Any] = {"system": "Be brief.", "prompt": "Who?", "max_tokens": 2}


async def capabilities(both: openai_servers.Opened) -> frozenset[Capability]:
    return (await both.generator.describe_model()).capabilities


@pytest.mark.parametrize("dialect", ["vllm", "openai"])
async def test_a_chat_has_a_turn_of_the_system(dialect: str) -> None:
    async with openai_servers.opened(dialect, openai_api="chat") as both:
        assert Capability.SYSTEM_TURN in await capabilities(both)
        await openai_servers.write(both.generator, **ASKED)
        await openai_servers.write(both.generator, **{**ASKED, "system": ""})
        first, second = both.server.generations.accepted
    assert (first.system, first.prompt) == ("Be brief.", "Be brief.\n\nWho?")
    assert (second.system, second.prompt) == ("", "Who?")


async def test_a_chat_that_rejects_the_turn_gets_the_text_in_that_of_the_user() -> None:
    fail = [Failure.REFUSED_SYSTEM]
    async with openai_servers.opened("vllm", fail=fail, openai_api="chat") as both:
        await openai_servers.write(both.generator, **ASKED)
        assert both.server.generations.requests == 3, "the probe, the rejected one and this one"
        await openai_servers.write(both.generator, **ASKED)
        assert Capability.SYSTEM_TURN in await capabilities(both)
        requests = both.server.generations.accepted
    assert {(each.system, each.prompt) for each in requests} == {("", "Be brief.\n\nWho?")}
    assert len(requests) == 2


async def test_completions_without_a_template_have_no_turn_of_the_system() -> None:
    async with openai_servers.opened() as both:
        assert Capability.SYSTEM_TURN not in await capabilities(both)
        with pytest.raises(CapabilityMissing, match="system needs the capability system_turn"):
            await openai_servers.write(both.generator, **ASKED)


def test_an_embedded_chat_model_reads_the_turns_in_order() -> None:
    ada, was, born = 2, 3, 4
    chat = replace(sentence_piece(), turn=((ada,), (born,)), system_turn=((was,), (was, ada)))
    assert chat.encode("in", " Paris.") == [ada, 5, born, 6]
    assert chat.encode("in", " Paris.", system="born") == [was, born, was, ada, 5, born, 6]
