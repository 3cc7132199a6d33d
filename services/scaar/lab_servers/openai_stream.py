"""Chunks of one generation of an OpenAI-compatible server."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace

from scaar.core.ports import Generator
from scaar.core.types import (
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    LogprobsRequest,
    Token,
)
from scaar.generator.validation import MAX_NEW_TOKENS
from scaar.lab.vocabulary import BOS, BOS_ID, EOS, EOS_ID
from scaar.lab_servers.openai_failures import Failure
from scaar.lab_servers.openai_layouts import Layout, ReportedToken
from scaar.lab_servers.openai_wire import GenerationRequest, Json

MIDDLE = 3
"""Number of chunks before a failure within a stream."""
_CHUNK = 3
"""Number of tokens of a chunk with ``MANY_TOKENS``."""
_THOUGHTS = (" The", " user", " asks", " about", " a", " film", ".")
_PARTIAL = "\N{REPLACEMENT CHARACTER}"


class ChunkStream:
    """The chunks of a generation. ``generated`` is the number of its tokens."""

    def __init__(
        self,
        engine: Generator,
        spec: GenerationRequest,
        layout: Layout,
        failures: frozenset[Failure],
        *,
        prompt_tokens: int,
        slow_s: float,
    ) -> None:
        self._engine = engine
        self._spec = spec
        self._layout = layout
        self._prompt_tokens = prompt_tokens
        self._failures = failures
        self._slow_s = slow_s
        self.generated = 0
        self._thoughts = self._thoughts_of(spec)

    def _thoughts_of(self, spec: GenerationRequest) -> list[Token]:
        """Return the tokens of the thoughts, which are too uncertain for any policy."""
        words = list(_THOUGHTS)
        if Failure.THINK_TAGS in self._failures:
            words = ["<think>", "\n", *words, "\n", "</think>", "\n\n"]
        elif not spec.chat or not (
            Failure.THINKS_ALWAYS in self._failures
            or (Failure.THINKS in self._failures and not spec.thinking_off)
        ):
            return []
        return [Token(0, word, 0, 0, -9.0) for word in words[: spec.max_tokens]]

    async def chunks(self) -> AsyncGenerator[Json, None]:
        """Yield a chunk per token, then the finish reason and the usage; failures change that."""
        echo = ""
        if self._spec.echo:
            async for chunk in self._echo():
                yield chunk
        if self._spec.chat:
            yield self._layout.chunk("", (), first=True)
            echo = self._spec.prefix if self._layout.dialect.echoes else ""
        for thought in self._thoughts:
            self.generated += 1
            token = self._one(thought, self.generated)
            if Failure.THINK_TAGS in self._failures:
                yield self._layout.chunk(thought.text, [token])
            elif self._layout.dialect.name != "openai":
                yield self._layout.thought(thought.text, token)
        async with aclosing(self._deltas()) as deltas:
            async for text, reported, reason in deltas:
                if text:
                    text, echo = echo + text, ""
                if Failure.EMPTY_CHUNKS in self._failures:
                    yield self._layout.chunk("", ())
                if Failure.SLOW in self._failures:
                    await asyncio.sleep(self._slow_s)
                yield self._with_usage(self._layout.chunk(text, reported, reason=reason))
        if self._spec.usage and Failure.NO_USAGE not in self._failures:
            thinking = len(self._thoughts)
            yield self._layout.usage(self._prompt_tokens, self.generated, thinking=thinking)

    async def _echo(self) -> AsyncGenerator[Json, None]:
        """Yield the prompt's tokens, special ones included, with their log-probabilities."""
        request = LogprobsRequest("", self._spec.prompt, top_tokens=self._spec.top)
        found = await self._engine.compute_logprobs(request)
        for _ in range(found.prompt_tokens):
            yield self._layout.chunk("", [ReportedToken(BOS, "", Token(BOS_ID, "", 0, 0))])
        for token in found.tokens:
            yield self._layout.chunk(token.text, [ReportedToken(token.text, token.text, token)])

    async def _deltas(self) -> AsyncGenerator[tuple[str, list[ReportedToken], str | None], None]:
        """Yield text, tokens and finish reason of each chunk."""
        held, late, reason = list[ReportedToken](), "", "stop"
        size = _CHUNK if Failure.MANY_TOKENS in self._failures else 1
        async with aclosing(self._reported_tokens()) as steps:
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
        if self._layout.reports_end and reason == "stop":
            held.append(ReportedToken(EOS, "", Token(EOS_ID, "", 0, 0)))
        if Failure.UNKNOWN_FINISH in self._failures:
            reason = "whim"
        yield text, held, reason

    def _text(self, reported: Iterable[ReportedToken], late: str) -> tuple[str, str]:
        """Return the text of a chunk, and the text for the next one."""
        text = "".join(each.text for each in reported)
        return (late, text) if Failure.LATE_TEXT in self._failures else (text, "")

    async def _reported_tokens(self) -> AsyncGenerator[ReportedToken | str, None]:
        """Yield the reported tokens, then the finish reason."""
        spec, thoughts = self._spec, len(self._thoughts)
        if thoughts == spec.max_tokens:
            yield "length"
            return
        request = GenerateRequest(
            spec.prompt,
            prefix=spec.prefix,
            max_tokens=min(spec.max_tokens - thoughts, MAX_NEW_TOKENS),
            stop=spec.stop,
            top_tokens=spec.top,
            temperature=spec.temperature,
            seed=spec.seed,
        )
        places = itertools.count()
        if Failure.REPEATS in self._failures and spec.restated:
            for token in _words(spec.prefix):
                yield self._one(token, next(places))
        async with aclosing(self._engine.generate(request)) as steps:
            async for step in steps:
                match step:
                    case Token():
                        self.generated += 1
                        for token in self._parts(step):
                            yield self._one(token, next(places))
                    case GenerationEnd():
                        self.generated = thoughts + step.generated_tokens
                        full = step.finish_reason is FinishReason.LENGTH
                        yield "length" if full else "stop"

    def _parts(self, token: Token) -> list[Token]:
        if Failure.SPLIT_CHARACTERS not in self._failures or token.logprob is None:
            return [token]
        half = replace(token, logprob=token.logprob / 2)
        return [replace(half, text=""), half]

    def _one(self, token: Token, place: int) -> ReportedToken:
        shown = token.text or _PARTIAL
        if Failure.BARE_TOKENS in self._failures:
            shown = shown.lstrip() or shown
        if Failure.MISSING_LOGPROBS in self._failures and place % 2:
            token = replace(token, logprob=self._layout.no_logprob)
        return ReportedToken(shown, token.text, token)

    def _with_usage(self, chunk: Json) -> Json:
        if Failure.NO_USAGE in self._failures:
            chunk.pop("timings", None)
        elif self._spec.continuous_usage:
            chunk["usage"] = self._layout.usage(self._prompt_tokens, self.generated)["usage"]
        elif self._layout.dialect.name == "llama_cpp":
            chunk["timings"] = {"cache_n": self._prompt_tokens - 1, "prompt_n": 1}
        return chunk


def _words(text: str) -> Iterator[Token]:
    for word in text.split():
        yield Token(0, f" {word}", 0, 0, -0.5)
