"""Prompt profiles: a layout of prompts, and the end of answers to them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from scaar.core.prompts.conclusion import concludes, extract_answer
from scaar.core.prompts.exemplars.exemplar_set import ExemplarSet
from scaar.core.prompts.exemplars.general import GENERAL
from scaar.core.prompts.rewriting import general_rewriting
from scaar.core.prompts.untrusted import (
    one_line,
    safe_lines,
    safe_passage,
    safe_question,
    safe_system,
)
from scaar.core.text.questions import searched_question
from scaar.core.types import AnswerForm, Message, RetrievedPassage, SearchDialect


@dataclass(frozen=True, slots=True)
class PromptProfile:
    """A versioned layout: the same name and version always give the same prompt.

    ``layout`` takes the question, the passages made safe for a prompt, and the examples. The
    model's text begins directly after the prompt, with its own space. ``stop`` ends the generation
    of a model that would continue with a question of its own.
    """

    name: str
    version: int
    layout: Callable[[str, Sequence[str], str], str]
    exemplars: ExemplarSet | None = None
    """The few-shot examples; None for a layout without examples."""
    with_titles: bool = False
    """Whether the title precedes a passage whose text does not begin with it."""
    forcing_phrase: str = " So the answer is"
    """The text appended to an answer without conclusion, to make the model conclude."""
    trained_to_conclude: bool = False
    """Whether models with this profile conclude in every form of answer, as they were trained."""
    concluding: bool = True
    """Whether the answer ends with a conclusion (:meth:`in_form`)."""
    stop: tuple[str, ...] = ("\nQuestion:",)
    trained_dialect: SearchDialect | None = None
    """The dialect that models with this profile were trained on, which no prompt must explain."""
    answer_tags: tuple[str, str] | None = None
    """The tags between which the model writes its answer; None for the answer phrase."""
    rewriting: Callable[[Sequence[Message], str], str] | None = general_rewriting
    """The prompt for a standalone question: of earlier messages, and of the last question. None
    for a model that cannot rewrite questions."""
    text_kind: str = ""
    """The kind of text that its models write and read, such as ``lab``; empty for any. A model
    behind any server is known by it."""
    system: str = ""
    """Text before every prompt, of the profile and of the application, made safe for it."""
    short: str = ""
    """Text of the system, after ``system``, for answers that end with the answer phrase."""
    asks_again: str = ""
    """What follows the passages: the question in this form, again; of a long one, what it asks.
    Empty for a layout that has the question once."""
    keeps_lines: bool = False
    """Whether a question keeps its lines; otherwise it becomes one line."""
    without_passages: str = ""
    """The profile of a text that no passages are read for, if the request names none; empty for
    this one."""
    abstentions: tuple[str, ...] = ()
    """The sentence that the model is instructed to write if it does not know, and variants of it;
    empty for a profile without such an instruction."""

    @property
    def label(self) -> str:
        """The name for :func:`scaar.core.prompts.profile_of`: name and version of the layout.

        The name and version of the examples follow, unless these are the general ones.
        """
        label = f"{self.name}@{self.version}"
        if self.exemplars in (None, GENERAL):
            return label
        return f"{label}:{self.exemplars.label}"

    def render(self, question: str, passages: Sequence[RetrievedPassage] = ()) -> str:
        """Return the prompt for a question with passages, in order and without empty ones."""
        texts = list(filter(None, (safe_passage(self._text(passage)) for passage in passages)))
        examples = "" if self.exemplars is None else self.exemplars.text
        asked = safe_lines(question) if self.keeps_lines else safe_question(question)
        layout = self.layout(asked, texts, examples)
        if self.asks_again and texts:
            layout += self.asks_again.format(safe_question(searched_question(question)))
        return self.after_system(layout)

    def after_system(self, prompt: str) -> str:
        """Return the prompt after the text of the system, if there is one."""
        return f"{self.system}\n\n{prompt}" if self.system else prompt

    def in_form(self, form: AnswerForm) -> Self:
        """Return the profile of answers in a form.

        In short form, it tells the model to end with the answer phrase.
        """
        if form is AnswerForm.TEXT and not self.trained_to_conclude:
            return replace(self, concluding=False)
        return replace(self, system=" ".join(filter(None, (self.system, self.short))))

    def with_system(self, text: str) -> Self:
        """Return the profile with text of the application after its own."""
        return replace(self, system="\n\n".join(filter(None, (self.system, safe_system(text)))))

    def abstains(self, sentence: str) -> bool:
        """Return whether a sentence begins with an abstention, but for case and punctuation.

        Or whether it is one after an introduction ("The answer is: I don't know.").
        """
        abstentions = tuple(map(_bare, self.abstentions))
        return (
            _bare(sentence).startswith(abstentions) or _bare(sentence.split(":")[-1]) in abstentions
        )

    def concludes(self, sentence: str) -> bool:
        """Return whether a sentence of the model ends the answer with a conclusion.

        It contains the answer phrase, or its opening tag; False if answers have no conclusion.
        """
        if not self.concluding:
            return False
        if self.answer_tags:
            return self.answer_tags[0] in sentence
        return concludes(sentence)

    def extract_answer(self, text: str) -> str | None:
        """Return the text after the last answer phrase, up to the end of the line.

        A colon before it, the closing period and surrounding space are removed. None if the phrase
        is missing or nothing follows it. With tags, the text between the last ones.
        """
        if self.answer_tags:
            opening, closing = self.answer_tags
            _, found, rest = text.rpartition(opening)
            answer = rest.partition(closing)[0].strip().removesuffix(".")
            return (answer or None) if found else None
        return extract_answer(text)

    def _text(self, passage: RetrievedPassage) -> str:
        title, text = one_line(passage.title), one_line(passage.text)
        if not self.with_titles or not title or text.casefold().startswith(title.casefold()):
            return text
        return f"{title}. {text}"


def _bare(text: str) -> str:
    """Return the words of a text, without case and punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))
