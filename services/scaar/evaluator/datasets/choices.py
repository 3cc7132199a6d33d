"""Multiple choices: their form in a question, and the letter that an answer chooses."""

import re
import string
from collections.abc import Sequence

LETTERS = string.ascii_uppercase
MAX_CHOICES = len(LETTERS)

_AROUND = string.punctuation + string.whitespace
_ALONE = re.compile(r"\W*(?:(?:option|choice|answer)\s+)?\W*([A-Za-z])\W*", re.IGNORECASE)
_LEADING = re.compile(r"\s*(?:\(([A-Za-z])\)|([A-Z])[.):,])(?=\s|$)")
_IN_BRACKETS = re.compile(r"\(([A-Z])\)")


def with_choices(question: str, choices: Sequence[str]) -> str:
    """Return the question followed by its choices, on one line: ``... (A) one (B) two``.

    A question that ends in them already, such as a question of a file that is sent to an evaluator,
    is returned unchanged.
    """
    options = " ".join(f"({LETTERS[at]}) {choice}" for at, choice in enumerate(choices))
    return question if question.endswith(f" {options}") else f"{question} {options}"


def letter_of(answer: str, choices: Sequence[str]) -> str:
    """Return the letter of the choice that an answer names, or the answer if it names none.

    Recognised are ``B``, ``(B)``, ``B. text``, ``option B``, the choice's own text, and one letter
    in brackets. A letter that is an article ("A dog") is no choice.
    """
    offered = LETTERS[: len(choices)]
    if alone := _ALONE.fullmatch(answer):
        return _offered(alone[1], offered, answer)
    if leading := _LEADING.match(answer):
        return _offered(leading[1] or leading[2], offered, answer)
    bare = _bare(answer)
    named = [
        letter for letter, choice in zip(offered, choices, strict=True) if _bare(choice) == bare
    ]
    if not named:
        named = sorted(set(_IN_BRACKETS.findall(answer)) & set(offered))
    return named[0] if len(named) == 1 else answer


def _offered(letter: str, offered: str, answer: str) -> str:
    return letter.upper() if letter.upper() in offered else answer


def _bare(text: str) -> str:
    return " ".join(text.strip(_AROUND).casefold().split())
