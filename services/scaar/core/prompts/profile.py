"""What a prompt profile is: a layout of prompts, and how its answers end."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scaar.core.prompts.untrusted import one_line, safe_passage, safe_question
from scaar.core.types import RetrievedPassage

_ANSWER_PHRASE = re.compile(r"\bthe\s+answer\s+is\b", re.IGNORECASE)
_DOTTED = re.compile(r"(?:^|\s)(?:[^\W\d_]\.){2,}$")
"""A last word of initials, such as U.S., whose period is its own."""


@dataclass(frozen=True, slots=True)
class PromptProfile:
    """A versioned layout: the same name and version always write the same prompt.

    ``layout`` takes the question and the passages as they may stand in a prompt. The model's
    text begins right after a prompt, with its own space. ``stop`` ends the generation of a model
    that would go on to a question of its own.
    """

    name: str
    version: int
    layout: Callable[[str, Sequence[str]], str]
    with_titles: bool = False
    """Whether a passage is introduced by its title where its text does not begin with it."""
    forcing_phrase: str = " So the answer is"
    """What is appended to a text without conclusion, to have the model conclude."""
    stop: tuple[str, ...] = ("\nQuestion:",)

    @property
    def label(self) -> str:
        """Name and version, as :func:`scaar.core.prompts.profile_of` takes them too."""
        return f"{self.name}@{self.version}"

    def render(self, question: str, passages: Sequence[RetrievedPassage] = ()) -> str:
        """The prompt for a question, from the passages in their order, empty ones left out."""
        texts = [safe_passage(self._text(passage)) for passage in passages]
        return self.layout(safe_question(question), [text for text in texts if text])

    def concludes(self, sentence: str) -> bool:
        """Whether the sentence, the model's own, holds the answer phrase."""
        return _ANSWER_PHRASE.search(sentence) is not None

    def extract_answer(self, text: str) -> str | None:
        """What stands after the last answer phrase, up to the end of its line.

        Without the colon before it, the closing period and the space around it; None where the
        phrase is missing or nothing follows it.
        """
        found = list(_ANSWER_PHRASE.finditer(text))
        if not found:
            return None
        rest = text[found[-1].end() :].lstrip().removeprefix(":").strip()
        answer = rest.splitlines()[0].rstrip() if rest else ""
        if not _DOTTED.search(answer):
            answer = answer.removesuffix(".").rstrip()
        return answer or None

    def _text(self, passage: RetrievedPassage) -> str:
        title, text = one_line(passage.title), one_line(passage.text)
        if not self.with_titles or not title or text.casefold().startswith(title.casefold()):
            return text
        return f"{title}. {text}"
