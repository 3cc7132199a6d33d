"""Questions about a world, in the shapes of 2WikiMultihopQA, with one module per shape."""

from scaar.lab.questions.drawn_question import ANSWER_PHRASE, PLAINLY, DrawnQuestion, Kind
from scaar.lab.questions.films import Films, ListedFilms, NewFilms
from scaar.lab.questions.sample import (
    SHAPES,
    SHARES,
    TEMPLATES,
    Question,
    draw_question,
    draw_questions,
)

__all__ = [
    "ANSWER_PHRASE",
    "PLAINLY",
    "SHAPES",
    "SHARES",
    "TEMPLATES",
    "DrawnQuestion",
    "Films",
    "Kind",
    "ListedFilms",
    "NewFilms",
    "Question",
    "draw_question",
    "draw_questions",
]
