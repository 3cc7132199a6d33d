"""Check, before an answer, that a model has the reflection tokens."""

from contextlib import aclosing

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.ports import Generator
from scaar.core.prompts.reflection import JUDGEMENTS, REFLECTION_TOKENS
from scaar.core.types import GenerateRequest, GenerationEnd, GenerationStart, ModelDescription

_PROMPT = "Question:"


async def check_reflection_tokens(
    generator: Generator, model: ModelDescription, *, policy: str
) -> None:
    """Check that every reflection token is one token of the model, in texts that it reads too.

    Costs two calls of one token each.

    Raises:
        CapabilityMissing: a token is not one of the model, or the model does not read it.
    """
    try:
        plain = await _prompt_tokens(generator, "")
        tagged = await _prompt_tokens(generator, "".join(REFLECTION_TOKENS))
    except InvalidRequest as error:
        text = "; ".join(each.description for each in error.violations)
        raise _missing(model, policy, f"its reflection tokens {text}") from error
    # Engines read special tokens in a text as ordinary text, of several tokens each.
    if plain and tagged - plain > 2 * len(REFLECTION_TOKENS):
        text = (
            "it reads them as ordinary text, because they are special tokens of its tokenizer: "
            "add them as tokens that are not special"
        )
        raise _missing(model, policy, text)


async def _prompt_tokens(generator: Generator, prefix: str) -> int:
    """Return the number of tokens of prompt and prefix; 0 if the engine does not count them."""
    request = GenerateRequest(_PROMPT, prefix, max_tokens=1, named_tokens=JUDGEMENTS)
    count = 0
    async with aclosing(generator.generate(request)) as events:
        async for event in events:
            if isinstance(event, GenerationStart | GenerationEnd):
                count = max(count, event.prompt_tokens)
    return count


def _missing(model: ModelDescription, policy: str, reason: str) -> CapabilityMissing:
    return CapabilityMissing(
        f"policy {policy} needs a model that writes the reflection tokens of Self-RAG, and "
        f"{model.model} does not: {reason}",
        policy=policy,
        missing="reflection_tokens",
    )
