"""One generation as an OpenAI-compatible server streams it, chunk by chunk."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace

from scaar.core.ports import Generator
from scaar.core.types import FinishReason, GenerateRequest, GenerationEnd, Token
from scaar.lab.vocabulary import EOS, EOS_ID
from scaar.testing.lab_servers.openai_failures import Failure
from scaar.testing.lab_servers.openai_layouts import Layout, Told
from scaar.testing.lab_servers.openai_wire import Asked, Json

MIDDLE = 3
"""Chunks before what fails in mid-stream."""
_CHUNK = 3
"""The tokens of a chunk that has many."""
_PARTIAL = "\N{REPLACEMENT CHARACTER}"


class Writing:
    """The chunks of a generation. ``generated`` counts its tokens, as does the server."""

    def __init__(
        self,
        engine: Generator,
        asked: Asked,
        layout: Layout,
        suffered: frozenset[Failure],
        *,
        prompt_tokens: int,
        slow_s: float,
    ) -> None:
        self._engine = engine
        self._asked = asked
        self._layout = layout
        self._prompt_tokens = prompt_tokens
        self._suffered = suffered
        self._slow_s = slow_s
        self.generated = 0

    async def chunks(self) -> AsyncGenerator[Json, None]:
        """One for each token, or as the server was told to; the last ones say why, and how many."""
        echo = ""
        if self._asked.chat:
            yield self._layout.chunk("", (), first=True)
            echo = self._asked.prefix if self._layout.dialect.echoes else ""
        async with aclosing(self._deltas()) as deltas:
            async for text, told, reason in deltas:
                if text:
                    text, echo = echo + text, ""
                if Failure.EMPTY_CHUNKS in self._suffered:
                    yield self._layout.chunk("", ())
                if Failure.SLOW in self._suffered:
                    await asyncio.sleep(self._slow_s)
                yield self._with_usage(self._layout.chunk(text, told, reason=reason))
        if self._asked.usage and Failure.NO_USAGE not in self._suffered:
            yield self._layout.usage(self._prompt_tokens, self.generated)

    async def _deltas(self) -> AsyncGenerator[tuple[str, list[Told], str | None], None]:
        """Text, tokens and the reason of the end, as one chunk has them."""
        held, late, reason = list[Told](), "", "stop"
        size = _CHUNK if Failure.MANY_TOKENS in self._suffered else 1
        async with aclosing(self._told()) as steps:
            async for step in steps:
                if isinstance(step, str):
                    reason = step
                    break
                if len(held) >= size:
                    text, late = self._text(held, late)
                    yield text, held, None
                    held = []
                held.append(step)
        text, late = self._text(held, late)
        if self._layout.ends_apart or late:
            yield text, held, None
            text, held = late, []
        if self._layout.tells_end and reason == "stop":
            held.append(Told(EOS, "", Token(EOS_ID, "", 0, 0)))
        if Failure.UNKNOWN_FINISH in self._suffered:
            reason = "whim"
        yield text, held, reason

    def _text(self, told: Iterable[Told], late: str) -> tuple[str, str]:
        """What a chunk says of the text, and what is left for the next."""
        text = "".join(each.text for each in told)
        return (late, text) if Failure.LATE_TEXT in self._suffered else (text, "")

    async def _told(self) -> AsyncGenerator[Told | str, None]:
        """The tokens as they are told, then why there are no more."""
        asked = self._asked
        request = GenerateRequest(
            asked.prompt,
            prefix=asked.prefix,
            max_tokens=asked.max_tokens,
            stop=asked.stop,
            top_tokens=asked.top,
        )
        places = itertools.count()
        if Failure.REPEATS in self._suffered and asked.restated:
            for token in _words(asked.prefix):
                yield self._one(token, next(places))
        async with aclosing(self._engine.generate(request)) as steps:
            async for step in steps:
                match step:
                    case Token():
                        self.generated += 1
                        for token in self._parts(step):
                            yield self._one(token, next(places))
                    case GenerationEnd():
                        self.generated = step.generated_tokens
                        full = step.finish_reason is FinishReason.LENGTH
                        yield "length" if full else "stop"

    def _parts(self, token: Token) -> list[Token]:
        if Failure.SPLIT_CHARACTERS not in self._suffered or token.logprob is None:
            return [token]
        half = replace(token, logprob=token.logprob / 2)
        return [replace(half, text=""), half]

    def _one(self, token: Token, place: int) -> Told:
        shown = token.text or _PARTIAL
        if Failure.BARE_TOKENS in self._suffered:
            shown = shown.lstrip() or shown
        if Failure.MISSING_LOGPROBS in self._suffered and place % 2:
            token = replace(token, logprob=self._layout.no_logprob)
        return Told(shown, token.text, token)

    def _with_usage(self, chunk: Json) -> Json:
        if Failure.NO_USAGE in self._suffered:
            chunk.pop("timings", None)
        elif self._asked.usage_as_it_goes:
            chunk["usage"] = self._layout.usage(self._prompt_tokens, self.generated)["usage"]
        elif self._layout.dialect.name == "llama_cpp":
            chunk["timings"] = {"cache_n": self._prompt_tokens - 1, "prompt_n": 1}
        return chunk


def _words(text: str) -> Iterator[Token]:
    for word in text.split():
        yield Token(0, f" {word}", 0, 0, -0.5)
