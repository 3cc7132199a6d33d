"""Questions about a world in the shapes of 2WikiMultihopQA, one module a shape."""

from scaar.lab.questions.asked import ANSWER_PHRASE, PLAINLY, Asked, Kind
from scaar.lab.questions.drawing import (
    SHAPES,
    SHARES,
    TEMPLATES,
    Question,
    draw_asked,
    draw_questions,
)
from scaar.lab.questions.films import Films, ListedFilms, NewFilms

__all__ = [
    "ANSWER_PHRASE",
    "PLAINLY",
    "SHAPES",
    "SHARES",
    "TEMPLATES",
    "Asked",
    "Films",
    "Kind",
    "ListedFilms",
    "NewFilms",
    "Question",
    "draw_asked",
    "draw_questions",
]
