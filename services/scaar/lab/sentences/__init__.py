"""Sentence forms of the world: sentences about films by length, facts and free words.

The default world states one fact in a short sentence. A form fixes the number of words, the number
of facts, and the share of the other words that vary freely, so that experiments can change one of
them at a time. The free words come from distributions that the generator knows.
"""

from scaar.lab.sentences.forms import FORMS, SentenceForm, parse_form
from scaar.lab.sentences.questions import FormQuestion, draw_form_questions
from scaar.lab.sentences.reading import FilmFacts, ReadSentence, read_sentence
from scaar.lab.sentences.statements import FormedSentence, FormedWord, WordKind, state_facts

__all__ = [
    "FORMS",
    "FilmFacts",
    "FormQuestion",
    "FormedSentence",
    "FormedWord",
    "ReadSentence",
    "SentenceForm",
    "WordKind",
    "draw_form_questions",
    "parse_form",
    "read_sentence",
    "state_facts",
]
