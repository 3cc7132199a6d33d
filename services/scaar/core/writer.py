"""Writing one sentence: a generation that is stopped as soon as the sentence is complete."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from scaar.core.budget import Budget
from scaar.core.errors import PromptTooLong, StreamIncomplete
from scaar.core.ports import Generator
from scaar.core.sentences import SentenceSplitter
from scaar.core.types import (
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationStart,
    Token,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its tokens; ``last`` says that the model ended its text with it.

    ``token_ids`` are None where the tokens do not cover the sentence exactly, so that one must go
    on from its text.
    """

    text: str
    tokens: tuple[Token, ...]
    token_ids: tuple[int, ...] | None
    last: bool


@dataclass(slots=True)
class Writing:
    """What has been accepted so far, as text and, while they are known, as token ids."""

    text: str = ""
    token_ids: tuple[int, ...] | None = ()
    token_texts: list[str] = field(default_factory=list)

    def accept(self, sentence: Sentence) -> None:
        """Adds a sentence; the ids stay known while those of every sentence are."""
        if self.token_ids is None or sentence.token_ids is None:
            self.token_ids = None
        else:
            self.token_ids = (*self.token_ids, *sentence.token_ids)
        self.text += sentence.text
        self.token_texts += (token.text for token in sentence.tokens)


class SentenceWriter:
    """Writes sentences with a generator, on one budget."""

    def __init__(self, generator: Generator, budget: Budget, stop: tuple[str, ...] = ()) -> None:
        self._generator = generator
        self._budget = budget
        self._stop = stop

    async def draft(
        self, prompt: str, so_far: Writing, *, stage: str, max_tokens: int
    ) -> AsyncGenerator[Token | Sentence, None]:
        """The next sentence's tokens as they are written, then the sentence.

        The tokens that had to be read to see where it ends are not shown. The call is billed
        however it ends, but for a prompt that the model refuses.

        Raises:
            PromptTooLong: before any token.
        """
        request = GenerateRequest(
            prompt=prompt,
            prefix=so_far.text,
            prefix_token_ids=so_far.token_ids or (),
            max_tokens=max_tokens,
            stop=self._stop,
        )
        splitter, tokens, shown = SentenceSplitter(), list[Token](), 0
        text, ended = "", None
        prompt_tokens = generated_tokens = 0
        refused = False
        try:
            async with aclosing(self._generator.generate(request)) as events:
                while ended is None:
                    async with self._budget.within(stage):
                        event = await anext(events, None)
                    match event:
                        case None:
                            raise StreamIncomplete("the generator's stream ended before its end")
                        case GenerationStart():
                            prompt_tokens = event.prompt_tokens
                        case GenerationEnd():
                            ended = event.finish_reason
                            prompt_tokens = event.prompt_tokens
                            generated_tokens = event.generated_tokens
                        case Token():
                            generated_tokens += 1
                            tokens.append(event)
                            if complete := splitter.feed(event.text):
                                text = complete[0]
                                break
                            while shown < len(tokens) and tokens[shown].start < splitter.certain:
                                yield tokens[shown]
                                shown += 1
        except PromptTooLong:
            refused = True
            raise
        finally:
            if not refused:
                self._budget.count_call(
                    prompt_tokens=prompt_tokens, generated_tokens=generated_tokens
                )
        if not text:
            text = splitter.flush()
        mine = tuple(token for token in tokens if token.start < len(text))
        for token in mine[shown:]:
            yield token
        covered = not mine or mine[-1].end == len(text)
        yield Sentence(
            text=text,
            tokens=mine,
            token_ids=tuple(token.id for token in mine) if covered else None,
            last=ended in (FinishReason.END_OF_SEQUENCE, FinishReason.STOP),
        )

    async def write(self, prompt: str, so_far: Writing, *, stage: str, max_tokens: int) -> Sentence:
        """The next sentence, without showing its tokens."""
        written: Sentence | None = None
        async with aclosing(
            self.draft(prompt, so_far, stage=stage, max_tokens=max_tokens)
        ) as parts:
            async for part in parts:
                if isinstance(part, Sentence):
                    written = part
        assert written is not None, "a draft ends with its sentence or raises"
        return written
