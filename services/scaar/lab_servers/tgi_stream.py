"""Events of one generation of a TGI server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from scaar.core.ports import Generator
from scaar.core.types import FinishReason, GenerateRequest, GenerationEnd, Token
from scaar.lab.vocabulary import EOS, EOS_ID
from scaar.lab_servers.tgi_failures import Failure
from scaar.lab_servers.tgi_wire import GenerationRequest, Json, Rejected, token_json, top_json

MIDDLE = 3
"""Number of tokens before a failure within a stream."""


class EventStream:
    """The events of a generation; ``text`` is the text so far, without special tokens.

    Only the event of the last token has the whole text and the details. The engine does not report
    the log-probability of the end-of-sequence token, which is null. Log-probabilities are the
    model's own at every temperature; TGI's are those at the temperature.
    """

    def __init__(
        self,
        engine: Generator,
        spec: GenerationRequest,
        failures: frozenset[Failure],
        *,
        input_length: int,
        slow_s: float,
    ) -> None:
        self._engine = engine
        self._spec = spec
        self._input_length = input_length
        self._failures = failures
        self._slow_s = slow_s
        self._count = 0
        self.text = ""

    async def events(self) -> AsyncGenerator[Json, None]:
        """Yield an event per token; the last one has the end.

        Raises:
            Rejected: an injected failure.
        """
        request = GenerateRequest(
            self._spec.inputs,
            max_tokens=self._spec.max_new_tokens,
            top_tokens=self._spec.top_n_tokens,
            temperature=self._spec.temperature,
            seed=self._spec.seed,
        )
        async with aclosing(self._engine.generate(request)) as steps:
            async for step in steps:
                match step:
                    case Token():
                        for token in self._parts(step):
                            await self._fail()
                            event = self._event(token)
                            yield event
                            if event["details"] is not None:
                                return
                    case GenerationEnd(finish_reason=FinishReason.END_OF_SEQUENCE):
                        await self._fail()
                        yield self._event(Token(EOS_ID, EOS, 0, 0), special=True)

    def _parts(self, token: Token) -> list[Token]:
        if Failure.SPLIT_CHARACTERS not in self._failures:
            return [token]
        half = token.logprob / 2 if token.logprob is not None else None
        return [replace(token, text="", logprob=half), replace(token, logprob=half)]

    def _event(self, token: Token, *, special: bool = False) -> Json:
        self._count += 1
        if not special:
            self.text += token.text
        reason = self._finished(special)
        in_parts = reason == "length" and not token.text and not special
        text = self.text + "\N{REPLACEMENT CHARACTER}" * in_parts
        with_logprob = Failure.NULL_LOGPROBS not in self._failures
        event: Json = {
            "index": self._count,
            "token": token_json(token, special=special, logprob=with_logprob),
            "generated_text": None if reason is None else text,
            "details": None if reason is None else self._details(reason),
        }
        if self._spec.top_n_tokens:
            event["top_tokens"] = top_json(token.top)
        return event

    def _finished(self, ended: bool) -> str | None:
        if ended:
            return "eos_token"
        # TGI matches at the end of a token only, and keeps the stop string in the text.
        if any(self.text.endswith(stop) for stop in self._spec.stop):
            return "stop_sequence"
        return "length" if self._count >= self._spec.max_new_tokens else None

    def _details(self, reason: str) -> Json:
        return {
            "finish_reason": "tired" if Failure.UNKNOWN_FINISH in self._failures else reason,
            "generated_tokens": self._count,
            "seed": self._spec.seed if self._spec.temperature else None,
            "input_length": self._input_length,
        }

    async def _fail(self) -> None:
        if Failure.SLOW in self._failures:
            await asyncio.sleep(self._slow_s)
        if self._count == MIDDLE:
            if Failure.ERROR_EVENT in self._failures:
                raise Rejected("generation", "Request failed during generation: CANCELLED")
            if Failure.INCOMPLETE in self._failures:
                raise Rejected("incomplete_generation", "Incomplete generation")
