"""A scripted model with reflection tokens: it writes segments, and judges as the test says."""

import math
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from scaar.core.prompts.reflection import REFLECTION_TOKENS
from scaar.core.types import (
    Capability,
    GenerateRequest,
    GenerationEvent,
    Token,
    TopToken,
)
from scaar.testing.fakes import SCRIPTED_MODEL, Piece, ScriptedGenerator

from .scripted import PASSAGES, Parts

REFLECTING_MODEL = replace(
    SCRIPTED_MODEL, capabilities=SCRIPTED_MODEL.capabilities | {Capability.NAMED_TOKENS}
)
ADA, BYRON = (f"{each.title}\n{each.text}</paragraph>" for each in PASSAGES)
RETRIEVES = {
    "Answer:": "[Retrieval]",
    ADA: "[Relevant] Ada was born in London.[Fully supported][No Retrieval] Ada",
    BYRON: "[Irrelevant] Byron was a poet.[No support / Contradictory][No Retrieval] Ada",
    "[No Retrieval]": " So the answer is London.[Utility:5]",
}
"""Retrieves for the first segment, and concludes."""
Judge = Callable[[str, Token], Mapping[str, float]]
"""Probabilities of the named tokens, from the text before a token, prompt included, and the token.
Names that it leaves out have none."""


def certain(before: str, token: Token) -> Mapping[str, float]:
    """Be certain of the written token."""
    return {token.text: 1.0}


class ReflectingGenerator(ScriptedGenerator):
    """A scripted generator whose named tokens have the probabilities of a judge."""

    def __init__(self, script: Callable[[GenerateRequest], list[Piece]], judge: Judge) -> None:
        super().__init__(script, model=REFLECTING_MODEL)
        self._judge = judge

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        before = request.prompt + request.prefix
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                if isinstance(event, Token):
                    given = self._judge(before, event)
                    before += event.text
                    yield replace(event, named=named(request.named_tokens, given))
                else:
                    yield event


def named(names: Sequence[str], probabilities: Mapping[str, float]) -> tuple[TopToken, ...]:
    return tuple(
        TopToken(0, name, math.log(given) if (given := probabilities.get(name, 0.0)) else -math.inf)
        for name in names
    )


def pieces(text: str, logprob: float = -0.1) -> list[Piece]:
    """Return a token for each reflection token, and for each word with the space before it."""
    found, rest = list[Piece](), text
    while rest:
        special = next((each for each in REFLECTION_TOKENS if rest.startswith(each)), None)
        if special is None:
            starts = [at for each in REFLECTION_TOKENS if (at := rest.find(each)) > 0]
            space = rest.find(" ", 1)
            special = rest[: min([*starts, space if space > 0 else len(rest)], default=len(rest))]
        found.append((special, logprob))
        rest = rest[len(special) :]
    return found


def writing(texts: Mapping[str, str]) -> Callable[[GenerateRequest], list[Piece]]:
    """Write the text whose key ends what is written so far, the longest key first."""

    def script(requested: GenerateRequest) -> list[Piece]:
        before = requested.prompt + requested.prefix
        for key in sorted(texts, key=len, reverse=True):
            if before.endswith(key):
                return pieces(texts[key])
        return pieces(" Nothing.")

    return script


def reflecting(texts: Mapping[str, str], judge: Judge = certain, **changed: object) -> Parts:
    return Parts(ReflectingGenerator(writing(texts), judge), **changed)  # type: ignore[arg-type]


def written_requests(parts: Parts) -> list[GenerateRequest]:
    """Return the requests of the answer, without the two by which the model is checked."""
    return parts.generator.requests[2:]
