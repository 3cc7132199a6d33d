"""Questions that request facts of a film in a sentence of a form."""

from dataclasses import dataclass
from random import Random

from scaar.lab.passages import passage_id
from scaar.lab.sentences.forms import SentenceForm
from scaar.lab.sentences.statements import MARKERS, state_facts
from scaar.lab.world import SUBJECTS, Fact, Film, Relation, World, popularity_weights

TEMPLATE = "Give the {relations} of {subject} in {words} words with {rate} freedom{place}."
RELATION_NAMES = {
    Relation.DIRECTOR: "director",
    Relation.RELEASED: "year",
    Relation.STAR: "star",
}
RATE_NAMES = {0.0: "no", 0.25: "little", 0.5: "some", 1.0: "full"}
AT_THE_END = " at the end"
SPLITS = ("head", "tail")


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question in the layout of the data set, with a reference answer.

    ``facts`` are the values that the answer states, by relation.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    form: str
    split: str
    facts: tuple[Fact, ...]
    supports: tuple[str, ...]


def form_question(facts: tuple[Fact, ...], form: SentenceForm) -> str:
    """Return the question that requests these facts, in the order of MARKERS, in a form."""
    relations = {fact.relation for fact in facts}
    names = [RELATION_NAMES[each] for each in MARKERS if each in relations]
    return TEMPLATE.format(
        relations=" and ".join(names),
        subject=facts[0].subject,
        words=form.words,
        rate=RATE_NAMES[form.free],
        place=AT_THE_END * form.padded,
    )


def draw_facts(film: Film, form: SentenceForm, random: Random) -> tuple[Fact, ...]:
    """Draw as many facts of a film as the form has, in the order of MARKERS."""
    chosen = random.sample(film.facts(), form.facts)
    return tuple(sorted(chosen, key=lambda fact: list(MARKERS).index(fact.relation)))


def draw_form_questions(
    world: World, form: SentenceForm, *, count: int, split: str | None = None
) -> list[FormQuestion]:
    """Draw questions in a form, determined by the world's seed, the form and the split.

    ``head`` questions are about known films, drawn by popularity, ``tail`` questions about the
    world's own films; without a split, the two alternate. The same film may be drawn repeatedly.

    Raises:
        ValueError: the split is unknown, or ``count`` is negative.
    """
    splits = SPLITS if split is None else (split,)
    if not set(splits) <= set(SPLITS):
        raise ValueError(f"split must be head or tail, not {split!r}")
    if count < 0:
        raise ValueError(f"count must be at least 0, not {count}")
    random = Random(f"forms {world.seed} {form.name} {split}")
    weights = popularity_weights(len(world.known))
    questions = []
    for number in range(count):
        of = splits[number % len(splits)]
        if of == "head":
            index = random.choices(range(len(world.known)), weights)[0]
        else:
            index = len(world.known) + random.randrange(len(world.tail))
        facts = draw_facts(world.films[index], form, random)
        questions.append(
            FormQuestion(
                id=f"{of}-form-{number:04d}",
                question=form_question(facts, form),
                answers=(state_facts(facts, form, random).text,),
                form=form.name,
                split=of,
                facts=facts,
                supports=(passage_id(SUBJECTS[0], index),),
            )
        )
    return questions
