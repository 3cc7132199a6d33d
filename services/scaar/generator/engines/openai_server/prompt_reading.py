"""Reading of a prompt by a server: what is worth reporting of it, and how fast it was."""

import time

from scaar.core.types import GenerateRequest, GenerationProgress
from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.served.silence import ReadingSpeed

REPORTED_S = 0.5
"""Progress is reported of prompts that should take longer to read, in seconds."""
_REPORTED_TOKENS = 256
"""Progress is reported of prompts with more unread tokens while the speed is unknown."""


def characters_of(request: GenerateRequest) -> int:
    """Return the length of what the server reads, in characters."""
    return len(request.system) + len(request.prompt) + len(request.prefix)


class PromptReading:
    """The reading of the prompt of one generation, from its request to the first token."""

    def __init__(self, request: GenerateRequest, speed: ReadingSpeed) -> None:
        self._characters = characters_of(request)
        self._speed = speed
        self._began = time.monotonic()
        self._ended = False

    def is_long(self, progress: GenerationProgress) -> bool:
        """Return whether reading the rest should take so long that the progress is reported."""
        unread = progress.prompt_tokens - progress.read_tokens
        share = unread / max(1, progress.prompt_tokens)
        expected_s = self._speed.expected_s(self._characters * share)
        return unread > _REPORTED_TOKENS if expected_s is None else expected_s > REPORTED_S

    def end(self, first: Delta) -> None:
        """Note the first delta, with which the prompt has been read."""
        if self._ended:
            return
        self._ended = True
        read, sent = first.evaluated_tokens, first.prompt_tokens
        share = 1.0 if read is None or not sent else read / sent
        self._speed.observe(self._characters * share, time.monotonic() - self._began)
