"""Questions that one fact about a film, its director or the director's family answers."""

from random import Random

from scaar.lab.questions.drawn_question import DrawnQuestion, Kind
from scaar.lab.questions.films import Films
from scaar.lab.world import Fact, Film, Relation

OF_A_FILM = {
    Relation.DIRECTOR: "Who directed the film {subject}?",
    Relation.RELEASED: "When was the film {subject} released?",
    Relation.STAR: "Who stars in the film {subject}?",
}
OF_A_PERSON = {
    Relation.BORN: "When was {subject} born?",
    Relation.BIRTHPLACE: "Where was {subject} born?",
    Relation.DIED: "When did {subject} die?",
    Relation.COUNTRY: "Which country is {subject} from?",
    Relation.FATHER: "Who is the father of {subject}?",
    Relation.MOTHER: "Who is the mother of {subject}?",
    Relation.SPOUSE: "Who is the spouse of {subject}?",
}
TEMPLATES = OF_A_FILM | OF_A_PERSON


def draw(random: Random, films: Films) -> DrawnQuestion:
    """Draw a film, its director or a relative, and one of their facts."""
    film = films.draw(random)
    own, director, *family = film.subjects()
    subject = random.choice((own, own, director, random.choice(family)))
    return fact_question(film, random.choice(subject.facts))


def fact_question(film: Film, fact: Fact) -> DrawnQuestion:
    """Build the question that a fact of one of the film's subjects answers."""
    question = TEMPLATES[fact.relation].format(subject=fact.subject)
    of = next(
        number for number, subject in enumerate(film.subjects()) if subject.name == fact.subject
    )
    owner = ("", "director ", "father ", "mother ", "spouse ")[of]
    return DrawnQuestion(
        Kind.ONE_HOP, f"{owner}{fact.relation}", (film,), question, (fact,), fact.value
    )
