"""The lab's questions, drawn from the closed world of a seed (:mod:`scaar.lab.questions`).

Of the ``count`` questions one half is about films that the lab's models know to some degree (head),
and the other half about films that they have never seen (tail), alternately, unless ``tail_share``
says otherwise. The label ``rank`` is the popularity of the least popular film of a question. The
entity of a question is its first film. For ``style`` and ``freedom`` see
:func:`scaar.lab.questions.draw_questions`.
"""

from collections.abc import Collection, Iterator

from scaar.core.distributions import lab_required
from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.evaluator.datasets.kind import MATCHES, DatasetKind, Row, Source
from scaar.evaluator.records import Question

DEFAULT_SEED = 2_000
"""The first of the worlds for reports, which the lab's models have never seen."""
DEFAULT_COUNT = 500
MAX_SEED = 2**31
RANKS = (50, 200, 800)
"""Upper bounds of the ranks of known films: well known, half known, hardly known.

The last one is the number of known films, ``scaar.lab.world.KNOWN_FILMS``.
"""


def _read(source: Source) -> Iterator[Row]:
    with lab_required("the data set lab"):
        from scaar.evaluator.datasets.lab_mix import draw_mix
        from scaar.lab.passages import passage_id
        from scaar.lab.world import SUBJECTS, build_world
    world = build_world(_seed(source))
    count = DEFAULT_COUNT if source.count is None else source.count
    if count < 1:
        raise InvalidRequest.of("count", f"must be at least 1, not {count}")
    try:
        share = _tail_share(source)
        drawn = draw_mix(
            world, count=count, tail_share=share, style=_style(source), freedom=_freedom(source)
        )
    except ValueError as error:
        raise InvalidRequest.of("count", str(error).removeprefix("count ")) from error
    for number, found in enumerate(drawn, 1):
        first, *others = (int(support.rpartition("-")[2]) for support in found.supports)
        labels = {
            "kind": found.kind,
            "popularity": found.split,
            "rank": _ranks(max([first, *others])),
        }
        question = Question(
            id=found.id,
            question=found.question,
            answers=found.answers,
            entity=passage_id(SUBJECTS[0], first),
            labels=tuple(labels.items()),
            supports=found.supports,
        )
        yield Row(f"lab record {number}", question)


def _passages(source: Source) -> Iterator[Passage]:
    with lab_required("the data set lab"):
        from scaar.lab.passages import passages_of
        from scaar.lab.world import build_world
    for passage in passages_of(build_world(_seed(source))):
        yield Passage(passage.id, passage.title, passage.text)


def _seed(source: Source) -> int:
    seed = DEFAULT_SEED if source.seed is None else source.seed
    if not 0 <= seed <= MAX_SEED:
        raise InvalidRequest.of("seed", f"must be 0 to {MAX_SEED:,}, not {seed:,}")
    return seed


def _ranks(film: int) -> str:
    """The range of ranks of a film, counted from 1."""
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


def _freedom(source: Source) -> float | None:
    if source.freedom is None:
        return None
    from scaar.lab.sentences.forms import RATES

    if source.freedom not in RATES:
        listed = ", ".join(f"{each:g}" for each in RATES)
        raise InvalidRequest.of("freedom", f"must be one of {listed}, not {source.freedom:g}")
    if source.style is not None:
        raise InvalidRequest.of("freedom", "cannot be combined with style")
    return source.freedom


def advice_on_freedom(models: Collection[str]) -> str:
    """Return a warning if a model does not write free words where questions request them."""
    from scaar.lab.models import FREE_MODELS

    if not (others := sorted({*models} - {*FREE_MODELS})):
        return ""
    return (
        f"freedom: of the lab's models, {' and '.join(FREE_MODELS)} write free words, and "
        f"{', '.join(others)} answers: set SCAAR_GENERATOR_MODEL"
    )


LAB = DatasetKind(
    name="lab",
    title="the lab's questions",
    layout="no file: a seed, a count, and shares of words of style, of the tail and of free words",
    marks=frozenset(),
    read=_read,
    max_tokens=256,
    measures=MATCHES,
    passages=_passages,
    of_a_file=False,
)
