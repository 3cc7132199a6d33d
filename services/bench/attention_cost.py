"""Cost of attention in the stream of tokens: the same text with and without it."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import islice
from statistics import fmean, median

from bench.timing import compare
from scaar.compose import LAB_SEED
from scaar.core.ports import Generator
from scaar.core.prompts import profile_of
from scaar.core.types import GenerateRequest, Token
from scaar.lab.passages import passages_of
from scaar.lab.vocabulary import build_tokenizer
from scaar.lab.world import build_world
from scaar.wire.messages.events import generation_event_to_pb

PROMPT_TOKENS = (100, 500, 1500)
COLUMNS = (
    "prompt tokens",
    "written",
    "plain ms",
    "with attention ms",
    "ratio",
    "plain bytes per token",
    "with attention",
)


async def rows(
    generator: Generator, questions: Sequence[str], *, rounds: int
) -> list[tuple[str, ...]]:
    """Return a row for each prompt length."""
    found: list[tuple[str, ...]] = []
    for length in PROMPT_TOKENS:
        plain = [GenerateRequest(each, max_tokens=48) for each in _prompts(questions, length)]
        written = [await _tokens(generator, request) for request in plain]
        attending = [await _tokens(generator, _attending(request)) for request in plain]
        compared = await compare(
            plain,
            lambda request: _tokens(generator, request),
            lambda request: _tokens(generator, _attending(request)),
            rounds=rounds,
        )
        found.append(
            (
                str(length),
                f"{fmean(map(len, written)):.0f}",
                f"{median(compared.baseline_ms):.1f}",
                f"{median(compared.other_ms):.1f}",
                f"{compared.ratio:.3f}x",
                f"{_bytes_a_token(written):.0f}",
                f"{_bytes_a_token(attending):.0f}",
            )
        )
    return found


def _prompts(questions: Sequence[str], length: int) -> list[str]:
    """Prompts of ``length`` tokens: passages followed by the question."""
    tokenizer = build_tokenizer()
    passages = " ".join(each.text for each in islice(passages_of(build_world(LAB_SEED)), 60))
    profile = profile_of("lab")
    texts = [f"{passages}\n{profile.render(question)}" for question in questions]
    return [str(tokenizer.decode(tokenizer.encode(text).ids[-length:])) for text in texts]


def _attending(request: GenerateRequest) -> GenerateRequest:
    return replace(request, attention=True)


async def _tokens(generator: Generator, request: GenerateRequest) -> list[Token]:
    async with aclosing(generator.generate(request)) as events:
        return [event async for event in events if isinstance(event, Token)]


def _bytes_a_token(texts: Sequence[Sequence[Token]]) -> float:
    """The mean size of the messages of tokens."""
    tokens = [token for text in texts for token in text]
    return fmean(generation_event_to_pb(token).ByteSize() for token in tokens)
