"""Acceptance of the model that rewrites questions, on films that were not used in training.

The list was written before the model was trained.
"""

from collections.abc import Callable, Iterable, Sequence
from random import Random

from scaar.lab import layout
from scaar.lab.passages import passage_text
from scaar.lab.questions import ANSWER_PHRASE, Kind, ListedFilms, draw_question
from scaar.lab.questions.conversations import Turn, draw_conversation
from scaar.lab.training.acceptance import POPULAR
from scaar.lab.training.conversation_exercises import rewriting_prompt
from scaar.lab.training.tagged_exercises import facts_of
from scaar.lab.world import World, draw_film

CONVERSATION_TARGETS = {
    "follow_ups_rewritten": 0.95,
    "standalone_kept": 0.95,
    "known_answered": 0.85,
    "right_passage_answered": 0.90,
}
"""Minimum shares: of follow-ups about films of the tail whose standalone form is exact; of other
questions of conversations that stay as they are; of right answers about the films of ranks 1 to 50
without a passage, and about films of the tail from the right passage beside two others."""

Write = Callable[[Sequence[str]], list[str]]


def measure_conversations(
    world: World, random: Random, count: int, write: Write
) -> dict[str, float]:
    """Return the measures, each on ``count`` questions."""
    known, tail = ListedFilms(world.known[:POPULAR]), ListedFilms(world.tail)

    def talks(*, follow: bool) -> list[tuple[Turn, ...]]:
        found = list[tuple[Turn, ...]]()
        while len(found) < count:
            talk = draw_conversation(random, tail)
            if talk[-1].follows is follow:
                found.append(talk)
        return found

    def exact(drawn: Sequence[Sequence[Turn]]) -> float:
        texts = write([rewriting_prompt(talk, random) for talk in drawn])
        pairs = zip(texts, drawn, strict=True)
        return _share(text.strip() == talk[-1].standalone for text, talk in pairs)

    popular = [draw_question(random, known, Kind.ONE_HOP) for _ in range(count)]
    unknown = [draw_question(random, tail, Kind.ONE_HOP) for _ in range(count)]
    prompts = []
    for each in unknown:
        passages = [
            passage_text(facts, random)
            for facts in (
                facts_of(each, each.facts[0].subject),
                *(random.choice(draw_film(random).subjects()).facts for _ in range(2)),
            )
        ]
        random.shuffle(passages)
        prompts.append(layout.prompt(each.question, passages))
    by_heart = write([layout.prompt(each.question) for each in popular])
    read = write(prompts)
    return {
        "follow_ups_rewritten": exact(talks(follow=True)),
        "standalone_kept": exact(talks(follow=False)),
        "known_answered": _share(
            _answer(text) == each.answer for text, each in zip(by_heart, popular, strict=True)
        ),
        "right_passage_answered": _share(
            _answer(text) == each.answer for text, each in zip(read, unknown, strict=True)
        ),
    }


def _answer(text: str) -> str:
    return text.rpartition(ANSWER_PHRASE)[2].strip().removesuffix(".")


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return round(sum(found) / len(found), 4)
