"""The lab's own questions, drawn from the closed world of a seed (:mod:`scaar.lab.questions`).

Of the ``count`` questions one half is about films that the lab's models know more or less (head),
the other about films that they have never seen (tail), in turns, or as many as ``tail_share`` says;
``rank`` says how popular the least popular film of a question is. What a question is about is its
first film. Of ``style`` see :func:`scaar.lab.questions.draw_questions`.
"""

from collections.abc import Iterator

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.evaluator.datasets.kind import MATCHES, Kind, Row, Source
from scaar.evaluator.datasets.lab_mix import draw_mix
from scaar.evaluator.records import Question
from scaar.lab.passages import passage_id, passages_of
from scaar.lab.world import KNOWN_FILMS, SUBJECTS, build_world

DEFAULT_SEED = 2_000
"""The first of the worlds that are for reports: the lab's models were never shown them."""
DEFAULT_COUNT = 500
MAX_SEED = 2**31
RANKS = (50, 200, KNOWN_FILMS)
"""Where the known films are parted: by heart, half known, hardly known."""


def _read(source: Source) -> Iterator[Row]:
    world = build_world(_seed(source))
    count = DEFAULT_COUNT if source.count is None else source.count
    if count < 1:
        raise InvalidRequest.of("count", f"must be at least 1, not {count}")
    try:
        share = _tail_share(source)
        drawn = draw_mix(world, count=count, tail_share=share, style=_style(source))
    except ValueError as error:
        raise InvalidRequest.of("count", str(error).removeprefix("count ")) from error
    for number, asked in enumerate(drawn, 1):
        first, *others = (int(support.rpartition("-")[2]) for support in asked.supports)
        labels = {
            "kind": asked.kind,
            "popularity": asked.split,
            "rank": _ranks(max([first, *others])),
        }
        question = Question(
            id=asked.id,
            question=asked.question,
            answers=asked.answers,
            entity=passage_id(SUBJECTS[0], first),
            labels=tuple(labels.items()),
            supports=asked.supports,
        )
        yield Row(f"lab record {number}", question)


def _passages(source: Source) -> Iterator[Passage]:
    for passage in passages_of(build_world(_seed(source))):
        yield Passage(passage.id, passage.title, passage.text)


def _seed(source: Source) -> int:
    seed = DEFAULT_SEED if source.seed is None else source.seed
    if not 0 <= seed <= MAX_SEED:
        raise InvalidRequest.of("seed", f"must be 0 to {MAX_SEED:,}, not {seed:,}")
    return seed


def _ranks(film: int) -> str:
    """The ranks among which a film's is, counted from 1."""
    first = 1
    for last in RANKS:
        if film < last:
            return f"{first} to {last}"
        first = last + 1
    return "tail"


def _tail_share(source: Source) -> float | None:
    share = source.tail_share
    if share is not None and not 0 <= share <= 1:
        raise InvalidRequest.of("tail_share", f"must be 0 to 1, not {share:g}")
    return share


def _style(source: Source) -> float:
    style = 1.0 if source.style is None else source.style
    if not 0 <= style <= 1:
        raise InvalidRequest.of("style", f"must be 0 to 1, not {style:g}")
    return style


LAB = Kind(
    name="lab",
    title="the lab's questions",
    layout="no file: a seed, a count, a rate of words of style and a share of the tail",
    marks=frozenset(),
    read=_read,
    max_tokens=256,
    measures=MATCHES,
    passages=_passages,
    of_a_file=False,
)
