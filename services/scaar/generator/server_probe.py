"""Capabilities of a model server, as a few short generations show them."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.ports import Generator
from scaar.core.types import (
    Capability,
    ContinuationKind,
    GenerateRequest,
    LogprobsRequest,
    ModelDescription,
    Token,
)

REQUEST = GenerateRequest("Question: Who wrote the first novel?\nAnswer:", max_tokens=16)
"""A question whose answer has several tokens, from base and chat models."""
_TOP_TOKENS = (20, 5, 1)
_TEMPERATURE = 2.0
_SAME = 0.01
"""Difference of log-probabilities that are computed in another way, in nats."""
_SEED = 7
_SAMPLES = 3


@runtime_checkable
class ServerGenerator(Generator, Protocol):
    """A generator over a model server."""

    async def server_capabilities(self) -> Mapping[str, str]:
        """Return what the server says of itself, and how its model is prompted, by name."""
        ...


async def probe_server(engine: Generator) -> Mapping[str, str]:
    """Return the capabilities of the server behind an open engine, by name.

    Raises:
        InvalidRequest: the engine has no server.
    """
    if not isinstance(engine, ServerGenerator):
        text = "only engines openai, tgi and llama_cpp have a server to probe"
        raise InvalidRequest.of("SCAAR_GENERATOR_ENGINE", text)
    return {**await engine.server_capabilities(), **await observed_capabilities(engine)}


async def observed_capabilities(generator: Generator) -> Mapping[str, str]:
    """Return the capabilities that requests to a generator show, by name."""
    model = await generator.describe_model()
    written, top = await _most_likely(generator, model)
    return {
        "log-probabilities": str(model.logprob_kind) if _first(written) is not None else "none",
        "with temperature": await _with_temperature(generator, model, written),
        "most likely tokens": str(top),
        "continuation": await _continuation(generator, model, written),
        "sampling": await _sampling(generator, model, written),
        "seed": await _seed(generator, model),
        "named tokens": _yes(Capability.NAMED_TOKENS in model.capabilities),
        "text log-probabilities": await _text_logprobs(generator, model),
    }


async def _most_likely(
    generator: Generator, model: ModelDescription
) -> tuple[Sequence[Token], int]:
    """Return a greedy text with as many most likely tokens as the server gives, and their number.

    The server may give fewer than were requested.
    """
    if Capability.LOGPROBS in model.capabilities:
        for count in _TOP_TOKENS:
            try:
                written = await _write(generator, top_tokens=count)
            except InvalidRequest:
                continue
            return written, max((len(token.top) for token in written), default=0)
    return await _write(generator), 0


async def _with_temperature(
    generator: Generator, model: ModelDescription, greedy: Sequence[Token]
) -> str:
    """Return whether a temperature changes the log-probability of the most likely first token.

    It does where they are those of the distribution that the server samples from.
    """
    expected = _first(greedy)
    if expected is None or Capability.SAMPLING not in model.capabilities:
        return "none"
    top = 1 if greedy[0].top else 0
    written = await _write(generator, temperature=_TEMPERATURE, max_tokens=1, top_tokens=top)
    found = _first(written)
    if found is None:
        return "none"
    if not written[0].top and written[0].text != greedy[0].text:
        return "unknown"
    return "unchanged" if abs(found - expected) < _SAME else "changed"


async def _continuation(
    generator: Generator, model: ModelDescription, written: Sequence[Token]
) -> str:
    """Return how a prefix is continued, and whether a text that is cut continues as before."""
    if model.continuation is not ContinuationKind.NATIVE:
        return str(model.continuation)
    text = _text(written)
    # After one word: a longer prefix may be other tokens than those that were generated.
    end = text.find(" ", 1)
    if end < 0:
        return str(model.continuation)
    found, rest = _text(await _write(generator, prefix=text[:end])), text[end:]
    same = found.startswith(rest) or (bool(found) and rest.startswith(found))
    return str(model.continuation) if same else "native, but another text follows"


async def _sampling(generator: Generator, model: ModelDescription, greedy: Sequence[Token]) -> str:
    """Return whether samples differ from the greedy text."""
    if Capability.SAMPLING not in model.capabilities:
        return "no"
    samples = [_text(await _write(generator, temperature=_TEMPERATURE)) for _ in range(_SAMPLES)]
    return "ignored" if {*samples} == {_text(greedy)} else "yes"


async def _seed(generator: Generator, model: ModelDescription) -> str:
    if Capability.SEED not in model.capabilities:
        return "no"
    one, other = [
        _text(await _write(generator, temperature=_TEMPERATURE, seed=_SEED)) for _ in range(2)
    ]
    return "yes" if one == other else "ignored"


async def _text_logprobs(generator: Generator, model: ModelDescription) -> str:
    if Capability.TEXT_LOGPROBS not in model.capabilities:
        return "no"
    try:
        await generator.compute_logprobs(LogprobsRequest(REQUEST.prompt, " The first novel."))
    except (CapabilityMissing, InvalidRequest):
        return "rejected"
    return "yes"


async def _write(generator: Generator, **fields: Any) -> list[Token]:
    async with aclosing(generator.generate(replace(REQUEST, **fields))) as events:
        return [event async for event in events if isinstance(event, Token)]


def _text(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens)


def _first(tokens: Sequence[Token]) -> float | None:
    """Return the log-probability of the most likely first token."""
    if not tokens:
        return None
    return tokens[0].top[0].logprob if tokens[0].top else tokens[0].logprob


def _yes(given: bool) -> str:
    return "yes" if given else "no"
