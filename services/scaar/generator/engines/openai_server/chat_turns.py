"""A text to be continued as the turns of a chat."""

from openai.types.chat import ChatCompletionMessageParam

from scaar.core.types import ContinuationKind, GenerateRequest

GO_ON = (
    "Your answer is not finished. Go on exactly where it stops, in the same form. Write only what "
    "follows, and repeat nothing of it."
)
"""What a model is told that cannot go on from a turn of its own."""


def turns_of(
    request: GenerateRequest, continuation: ContinuationKind
) -> list[ChatCompletionMessageParam]:
    """The prompt as the user's turn, and what was written so far as the model's own.

    Where that is not gone on from by the server (``RESTATED``), a last turn asks the model to.
    """
    turns: list[ChatCompletionMessageParam] = []
    if request.prompt:
        turns.append({"role": "user", "content": request.prompt})
    if request.prefix:
        turns.append({"role": "assistant", "content": request.prefix})
        if continuation is ContinuationKind.RESTATED:
            turns.append({"role": "user", "content": GO_ON})
    return turns
