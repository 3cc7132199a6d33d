"""Conversion of an OpenAI-compatible stream to the port's tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from scaar.core.errors import StreamIncomplete
from scaar.core.types import FinishReason, GenerateRequest, GenerationEnd, Token
from scaar.generator.engines.openai_server.chat import RepeatFilter
from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.openai_server.text import TokenAligner
from scaar.generator.engines.served.text import ServedText, ServedToken

_REASONS = {"stop": FinishReason.END_OF_SEQUENCE, "length": FinishReason.LENGTH}


class OpenAiTokenStream:
    """The tokens of one generation. ``finished`` is set with the last token.

    Token counts are those of the server if it reports them; otherwise the reported tokens are
    counted, and prompt tokens are 0.
    """

    def __init__(self, request: GenerateRequest, *, restated: bool, echoed: bool) -> None:
        """The server's text may repeat the prefix.

        ``restated``: the model may repeat its last sentences. ``echoed``: the server may repeat the
        text, without reporting its tokens.
        """
        self._echo = request.prefix if echoed else ""
        self._aligned = TokenAligner()
        self._cut = RepeatFilter(request.prefix) if restated else None
        self._text = ServedText(request.stop)
        self._tokens = 0
        self._counted: int | None = None
        self._thinking = 0
        self._written = 0
        self.prompt_tokens = 0
        self.evaluated_tokens: int | None = None
        self.finished: FinishReason | None = None

    def feed(self, delta: Delta) -> list[Token]:
        """Return the tokens whose text is final.

        Raises:
            StreamIncomplete: the server ended the text for an unknown reason.
        """
        self._count(delta)
        released = self._write(self._aligned.feed(self._whole(delta), self._without_echo(delta)))
        if delta.finish_reason is None or self.finished is not None:
            return released
        if delta.finish_reason not in _REASONS:
            raise StreamIncomplete(
                f"unknown finish_reason of the server: {delta.finish_reason[:64]}"
            )
        self.finished = _REASONS[delta.finish_reason]
        ended = self.finished is FinishReason.END_OF_SEQUENCE
        released += self._write(self._aligned.flush(ended=ended))
        if not self._text.met:
            if self._cut is not None:
                released += self._pass(self._cut.flush())
            released += self._text.flush()
        if self._text.met:
            self.finished = FinishReason.STOP
        return released

    def end(self) -> GenerationEnd:
        """Return the end of the generation, once ``finished``."""
        assert self.finished is not None
        count = self._tokens if self._counted is None else self._counted - self._thinking
        return GenerationEnd(
            self.finished,
            self.prompt_tokens,
            max(0, count),
            thinking_tokens=self._thinking,
            evaluated_tokens=self.evaluated_tokens,
        )

    def _count(self, delta: Delta) -> None:
        self._tokens += len(delta.tokens) or bool(delta.text)
        if delta.prompt_tokens is not None:
            self.prompt_tokens = delta.prompt_tokens
        if delta.evaluated_tokens is not None:
            self.evaluated_tokens = delta.evaluated_tokens
        if delta.thinking_tokens is not None:
            self._thinking = delta.thinking_tokens
        if delta.generated_tokens is not None:
            self._counted = delta.generated_tokens

    def _whole(self, delta: Delta) -> Sequence[ServedToken]:
        """Return the tokens of a delta, without the log-probability of those that are one of many.

        Of a character of several tokens llama.cpp reports the last token only, which is likely once
        the others are written; those carry the doubt.
        """
        if delta.written_tokens is None:
            return delta.tokens
        new, self._written = delta.written_tokens - self._written, delta.written_tokens
        if new <= len(delta.tokens):
            return delta.tokens
        return [
            token if token.text.isascii() else replace(token, logprob=None, top=())
            for token in delta.tokens
        ]

    def _without_echo(self, delta: Delta) -> str:
        if not self._echo or not delta.text:
            return delta.text
        echo, self._echo = self._echo, ""
        reported = sum(len(token.text) for token in delta.tokens)
        for text in (echo, echo.lstrip()):
            if text and delta.text.startswith(text) and len(delta.text) > reported:
                return delta.text[len(text) :]
        return delta.text

    def _write(self, tokens: Iterable[ServedToken]) -> list[Token]:
        if self._cut is None:
            return self._pass(tokens)
        return [given for token in tokens for given in self._pass(self._cut.feed(token))]

    def _pass(self, tokens: Iterable[ServedToken]) -> list[Token]:
        released = list[Token]()
        for token in tokens:
            if self._text.met:
                break
            released += self._text.feed(token)
        if self._text.met:
            self.finished = FinishReason.STOP
        return released
