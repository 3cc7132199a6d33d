"""Parsing of the chunks of an OpenAI-compatible stream."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openai.types import Completion, CompletionChoice
from openai.types.chat import ChatCompletionChunk, ChatCompletionTokenLogprob
from openai.types.chat.chat_completion_chunk import Choice as ChatChoice
from openai.types.completion_choice import Logprobs

from scaar.core.text.words import NO_LOGPROB
from scaar.core.types import GenerationProgress, TopToken
from scaar.generator.engines.served.text import ServedToken

_PARTIAL = "\N{REPLACEMENT CHARACTER}"

Chunk = Completion | ChatCompletionChunk


@dataclass(frozen=True, slots=True)
class Delta:
    """A parsed chunk: the text that it adds, and its tokens, if any.

    ``thinking`` is what the model thinks before its answer, if the server separates the two;
    ``thinking_tokens`` the number of its tokens.

    The text of a token is as the server writes the token alone, which may differ from the text in
    its context. Its id is 0 if the server gives none.

    ``written_tokens`` is how many tokens the server has written up to this chunk, if it tells.
    """

    text: str = ""
    tokens: tuple[ServedToken, ...] = ()
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    evaluated_tokens: int | None = None
    generated_tokens: int | None = None
    thinking: str = ""
    thinking_tokens: int | None = None
    written_tokens: int | None = None
    progress: GenerationProgress | None = None
    """How much of the prompt has been read; such a delta has nothing else."""


def read_chunk(chunk: Chunk, *, top_tokens: int) -> Delta:
    """Parse a chunk.

    Raises:
        ValueError: the chunk has no form of any dialect.
    """
    try:
        if (progress := _progress(chunk)) is not None:
            return Delta(progress=progress)
        prompt_tokens, evaluated_tokens, generated_tokens = _usage(chunk)
        thinking_tokens = _thinking_tokens(chunk)
        if not chunk.choices:
            # The last chunk has only usage. A chunk with neither is an error, or empty.
            if chunk.choices is None or (chunk.model_extra or {}).get("message"):
                raise ValueError("a chunk without choices")
            return Delta(
                prompt_tokens=prompt_tokens,
                evaluated_tokens=evaluated_tokens,
                generated_tokens=generated_tokens,
                thinking_tokens=thinking_tokens,
            )
        choice = chunk.choices[0]
        text = choice.text if isinstance(choice, CompletionChoice) else choice.delta.content
        return Delta(
            text=str(text or ""),
            tokens=tuple(_tokens(choice, top_tokens)),
            finish_reason=choice.finish_reason,
            prompt_tokens=prompt_tokens,
            evaluated_tokens=evaluated_tokens,
            generated_tokens=generated_tokens,
            thinking=_thinking(choice),
            thinking_tokens=thinking_tokens,
            written_tokens=_written_tokens(chunk),
        )
    except (AttributeError, LookupError, OverflowError, TypeError, UnicodeError) as error:
        raise ValueError(f"a chunk with a wrong field: {type(error).__name__}") from None


def _progress(chunk: Chunk) -> GenerationProgress | None:
    """Return the progress that llama.cpp reports while it reads the prompt."""
    progress = (chunk.model_extra or {}).get("prompt_progress")
    if not isinstance(progress, Mapping):
        return None
    return GenerationProgress(int(progress["total"]), int(progress["processed"]))


def _usage(chunk: Chunk) -> tuple[int | None, int | None, int | None]:
    """Return the tokens of the prompt, those of them that the server read, and the generated ones.

    Each is None if the chunk does not report it.
    """
    # llama.cpp reports timings in each chunk: tokens read now and tokens from its cache.
    timings = (chunk.model_extra or {}).get("timings")
    read = cached = None
    if isinstance(timings, Mapping) and {"prompt_n", "cache_n"} <= timings.keys():
        read, cached = int(timings["prompt_n"]), int(timings["cache_n"])
    if (usage := chunk.usage) is None:
        return None if read is None or cached is None else read + cached, read, None
    prompt, details = int(usage.prompt_tokens), usage.prompt_tokens_details
    if read is None and details is not None and details.cached_tokens is not None:
        read = max(0, prompt - int(details.cached_tokens))
    return prompt, read, int(usage.completion_tokens)


def _written_tokens(chunk: Chunk) -> int | None:
    timings = (chunk.model_extra or {}).get("timings")
    written = timings.get("predicted_n") if isinstance(timings, Mapping) else None
    return int(written) if written is not None else None


def _thinking(choice: CompletionChoice | ChatChoice) -> str:
    if isinstance(choice, CompletionChoice):
        return ""
    extra = choice.delta.model_extra or {}
    # vLLM and Ollama: reasoning; SGLang, llama.cpp and LiteLLM: reasoning_content.
    return str(extra.get("reasoning") or extra.get("reasoning_content") or "")


def _thinking_tokens(chunk: Chunk) -> int | None:
    details = chunk.usage.completion_tokens_details if chunk.usage is not None else None
    return details.reasoning_tokens if details is not None else None


def _tokens(choice: CompletionChoice | ChatChoice, top_tokens: int) -> Sequence[ServedToken]:
    logprobs = choice.logprobs
    if logprobs is None:
        return ()
    if not isinstance(logprobs, Logprobs):
        return [_token(each, top_tokens) for each in logprobs.content or ()]
    # llama.cpp formats completions like chats.
    content = (logprobs.model_extra or {}).get("content")
    if content is not None:
        return [
            _token(ChatCompletionTokenLogprob.construct(**each), top_tokens) for each in content
        ]
    tokens, likely = logprobs.tokens or [], logprobs.token_logprobs or []
    tops = logprobs.top_logprobs or [{}] * len(tokens)
    if not len(tokens) == len(likely) == len(tops):
        raise ValueError("a chunk with different numbers of tokens and log-probabilities")
    return [
        ServedToken(0, str(text), _known(logprob), _top((top or {}).items(), top_tokens))
        for text, logprob, top in zip(tokens, likely, tops, strict=True)
    ]


def _token(entry: ChatCompletionTokenLogprob, top_tokens: int) -> ServedToken:
    likely = [(_text(each.token, each.bytes), each.logprob) for each in entry.top_logprobs or ()]
    number = (entry.model_extra or {}).get("id", 0)
    return ServedToken(
        id=int(number),
        text=_text(entry.token, entry.bytes),
        logprob=_known(entry.logprob),
        top=_top(likely, top_tokens),
    )


def _text(token: str, given: Sequence[int] | None) -> str:
    """Return the token's text, from its bytes if given, since the text may be escaped."""
    if not given:
        return token
    try:
        return bytes(given).decode()
    except UnicodeDecodeError:
        return _PARTIAL


def _top(likely: object, count: int) -> tuple[TopToken, ...]:
    if not count:
        return ()
    known = [
        TopToken(0, str(text), logprob)
        for text, value in likely  # type: ignore[attr-defined]
        if (logprob := _known(value)) is not None
    ]
    return tuple(sorted(known, key=lambda top: -top.logprob)[:count])


def _known(logprob: float | None) -> float | None:
    """Return the log-probability; None for the numbers by which servers represent -inf.

    JSON has no -inf: vLLM writes -9999, llama.cpp the lowest float.
    """
    if logprob is None or not math.isfinite(logprob) or logprob <= NO_LOGPROB:
        return None
    return min(0.0, float(logprob))
