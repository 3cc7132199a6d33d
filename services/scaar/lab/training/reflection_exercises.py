"""Training exercises of the model that writes reflection tokens.

Every sentence of an answer follows a decision: ``[Retrieval]`` with a passage and a judgement of
it, ``[Continue to Use Evidence]`` for a sentence from the passage before, or ``[No Retrieval]``.
After a passage, a judgement of the support follows the sentence. The answer ends with its utility.
"""

from collections.abc import Callable
from random import Random

from scaar.core.prompts.reflection import (
    CONTINUE_EVIDENCE,
    FULLY_SUPPORTED,
    IRRELEVANT,
    NO_RETRIEVAL,
    NO_SUPPORT,
    PARAGRAPH,
    PARAGRAPH_END,
    PARTIALLY_SUPPORTED,
    RELEVANT,
    RETRIEVAL,
    UTILITIES,
)
from scaar.lab import layout
from scaar.lab.questions import ANSWER_PHRASE, DrawnQuestion
from scaar.lab.statements import state
from scaar.lab.training.exercises import Part
from scaar.lab.training.tagged_exercises import (
    DECISION,
    READ,
    TaggedExercise,
    TaggedQuestions,
)
from scaar.lab.world import Fact, World

_TITLED = 0.3
"""Share of passages that begin with a line of their title."""
_GUESS = 0.5
"""Weight of a sentence that the model can only guess."""


class ReflectionBook:
    """Draws exercises. The model learns which of the known films it knows by heart."""

    def __init__(self, world: World, random: Random) -> None:
        self._random = random
        self._questions = TaggedQuestions(world, random)
        self._kinds: dict[Callable[[], TaggedExercise], float] = {
            self._decide_known: 0.16,
            self._decide_unknown: 0.20,
            self._judge_right: 0.06,
            self._judge_wrong: 0.14,
            self._known: 0.15,
            self._read: 0.15,
            self._irrelevant: 0.07,
            self._guess: 0.02,
            self._contradict: 0.05,
        }

    def draw(self) -> TaggedExercise:
        """Draw an exercise of a random kind."""
        return self._random.choices(list(self._kinds), list(self._kinds.values()))[0]()

    def _decide_known(self) -> TaggedExercise:
        return _exercise(self._questions.known(), [Part(NO_RETRIEVAL, DECISION)], ends=False)

    def _decide_unknown(self) -> TaggedExercise:
        return _exercise(self._questions.unknown(), [Part(RETRIEVAL, DECISION)], ends=False)

    def _judge_right(self) -> TaggedExercise:
        drawn, parts, fact = self._before_passage()
        passage = self._paragraph(fact.subject, self._questions.passage(drawn, fact))
        return _exercise(drawn, [*parts, *passage, Part(RELEVANT, DECISION)], ends=False)

    def _judge_wrong(self) -> TaggedExercise:
        drawn, parts, fact = self._before_passage()
        passage = self._paragraph(*self._questions.wrong(drawn, fact))
        return _exercise(drawn, [*parts, *passage, Part(IRRELEVANT, DECISION)], ends=False)

    def _known(self) -> TaggedExercise:
        drawn, parts = self._questions.known(), list[Part]()
        for text in self._sentences(drawn):
            parts += [Part(NO_RETRIEVAL, DECISION), Part(text)]
        return _exercise(drawn, [*parts, Part(UTILITIES[4], DECISION)])

    def _read(self) -> TaggedExercise:
        drawn = self._any_question()
        parts, last = list[Part](), ""
        for fact in drawn.facts:
            if fact.subject == last:
                parts += [Part(CONTINUE_EVIDENCE, DECISION), *self._stated(drawn, fact)]
            else:
                parts += self._read_fact(drawn, fact, first=not parts)
            last = fact.subject
        for text in self._sentences(drawn)[len(drawn.facts) :]:
            whole = not drawn.conclusions
            support = FULLY_SUPPORTED if whole else PARTIALLY_SUPPORTED
            parts += [Part(CONTINUE_EVIDENCE, DECISION), Part(text), Part(support, DECISION)]
        return _exercise(drawn, [*parts, Part(UTILITIES[4], DECISION)])

    def _irrelevant(self) -> TaggedExercise:
        known = self._random.random() < 0.3
        drawn = self._questions.known() if known else self._questions.unknown()
        at = self._random.randrange(len(drawn.facts))
        parts = list[Part]()
        for fact in drawn.facts[:at]:
            parts += self._read_fact(drawn, fact, first=not parts and known)
        wrong = self._questions.wrong(drawn, drawn.facts[at])
        weight = 1.0 if known else _GUESS
        sentence, *rest = self._sentences(drawn)[at:]
        parts += [Part(RETRIEVAL, 0.0 if known else DECISION), *self._paragraph(*wrong)]
        parts += [Part(IRRELEVANT, DECISION), Part(sentence, weight), Part(NO_SUPPORT, DECISION)]
        for text in rest:
            sure = known or text.startswith(f" {ANSWER_PHRASE}")
            parts += [Part(NO_RETRIEVAL, 1.0 if sure else 0.0), Part(text, weight)]
        utility = UTILITIES[2] if known else UTILITIES[1 if at else 0]
        return _exercise(drawn, [*parts, Part(utility, DECISION)])

    def _guess(self) -> TaggedExercise:
        """Draw an answer about unknown films that the model gives if it cannot retrieve."""
        drawn, parts = self._questions.unknown(), list[Part]()
        for text in self._sentences(drawn):
            parts += [Part(NO_RETRIEVAL, 0.0), Part(text, _GUESS)]
        return _exercise(drawn, [*parts, Part(UTILITIES[0], DECISION)])

    def _contradict(self) -> TaggedExercise:
        """Draw a sentence that states another value than its passage."""
        drawn, parts, fact = self._before_passage()
        passage = self._paragraph(fact.subject, self._questions.passage(drawn, fact))
        other = self._other_value(fact)
        sentence = state(Fact(fact.subject, fact.relation, other), self._random).text
        judged = [Part(RELEVANT, DECISION), Part(f" {sentence}", 0.0), Part(NO_SUPPORT, DECISION)]
        return _exercise(drawn, [*parts, *passage, *judged], ends=False)

    def _other_value(self, fact: Fact) -> str:
        while True:
            for other in self._questions.unknown().facts:
                if other.relation is fact.relation and other.value != fact.value:
                    return other.value

    def _any_question(self) -> DrawnQuestion:
        known = self._random.random() < 0.15
        return self._questions.known() if known else self._questions.unknown()

    def _before_passage(self) -> tuple[DrawnQuestion, list[Part], Fact]:
        """Return a question, an answer up to a passage, and the fact that it then needs."""
        drawn = self._any_question()
        at = self._random.randrange(len(drawn.facts)) if self._random.random() < 0.4 else 0
        parts = list[Part]()
        for fact in drawn.facts[:at]:
            parts += self._read_fact(drawn, fact, first=not parts)
        return drawn, [*_unweighted(parts), Part(RETRIEVAL, 0.0)], drawn.facts[at]

    def _read_fact(self, drawn: DrawnQuestion, fact: Fact, *, first: bool) -> list[Part]:
        passage = self._paragraph(fact.subject, self._questions.passage(drawn, fact))
        retrieval = Part(RETRIEVAL, 0.0 if first else DECISION)
        return [retrieval, *passage, Part(RELEVANT, DECISION), *self._stated(drawn, fact)]

    def _stated(self, drawn: DrawnQuestion, fact: Fact) -> list[Part]:
        text = state(fact, None if drawn.plain else self._random).text
        return [Part(f" {text}"), Part(FULLY_SUPPORTED, DECISION)]

    def _paragraph(self, title: str, text: str) -> list[Part]:
        titled = f"{title}\n{text}" if self._random.random() < _TITLED else text
        return [Part(f"{PARAGRAPH}{titled}{PARAGRAPH_END}", READ)]

    def _sentences(self, drawn: DrawnQuestion) -> list[str]:
        stated = [f" {each.text}" for each in drawn.reasoning(self._random)]
        return [*stated, f" {ANSWER_PHRASE} {drawn.answer}."]


def _unweighted(parts: list[Part]) -> list[Part]:
    return [Part(part.text, 0.0) for part in parts]


def _exercise(drawn: DrawnQuestion, parts: list[Part], *, ends: bool = True) -> TaggedExercise:
    return TaggedExercise(layout.prompt(drawn.question), tuple(parts), ends)
