"""``scaar lab``: the fictional world of a seed as JSON lines, its models, and servers of one."""

import enum
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from scaar.cli.eval import options
from scaar.cli.json_lines import print_json_lines
from scaar.cli.lab.models import models
from scaar.cli.lab.openai import openai
from scaar.cli.lab.tgi import tgi
from scaar.compose import LAB_SEED
from scaar.core.distributions import lab_required
from scaar.core.errors import InvalidRequest

if TYPE_CHECKING:
    from scaar.lab.world import World

app = typer.Typer(
    help="Print the lab's world and models, and serve its model.",
    no_args_is_help=True,
)
app.command()(tgi)
app.command()(openai)
app.command()(models)

MAX_SEED = 2**31
Seed = Annotated[int, typer.Option(metavar="S", min=0, max=MAX_SEED, help="Seed of the world.")]


class Split(enum.StrEnum):
    """Films of the training set, or films that the model has never seen."""

    HEAD = "head"
    TAIL = "tail"


@app.command("world")
def world(seed: Seed = LAB_SEED) -> None:
    """Print the films: known films by rank, then the long tail."""
    with lab_required("scaar lab"):
        from scaar.lab.world import build_world
    print_json_lines(_films(build_world(seed)))


@app.command("questions")
def questions(
    seed: Seed = LAB_SEED,
    count: Annotated[int, typer.Option(metavar="N", min=0, help="Number of questions.")] = 100,
    split: Annotated[
        Split | None,
        typer.Option(
            help="Ask about known films (head) or unseen films (tail) only. Default: both, "
            "alternately."
        ),
    ] = None,
    style: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="RATE",
            help="Fraction of questions that the model answers with style words.",
        ),
    ] = 1.0,
    sentences: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS/FACTS/RATE[/padded]",
            help="Ask for facts of a film in a sentence of this form instead, such as 12/2/0.5.",
        ),
    ] = None,
    freedom: options.Freedom = None,
) -> None:
    """Print questions with answers and supporting passages."""
    if sentences is not None:
        if style != 1.0:
            raise InvalidRequest.of("--style", "does not apply to sentence forms; omit it")
        if freedom is not None:
            raise InvalidRequest.of("--freedom", "does not apply to sentence forms; omit it")
        _print_form_questions(sentences, seed, count=count, split=split)
        return
    with lab_required("scaar lab"):
        from scaar.lab.questions import draw_questions
        from scaar.lab.sentences.forms import RATES
        from scaar.lab.world import build_world
    if freedom is not None and freedom not in RATES:
        listed = ", ".join(f"{each:g}" for each in RATES)
        raise InvalidRequest.of("--freedom", f"must be one of {listed}, not {freedom:g}")
    if freedom is not None and style != 1.0:
        raise InvalidRequest.of("--style", "does not apply to free words; omit it")
    try:
        drawn = draw_questions(
            build_world(seed),
            count=count,
            split=split and split.value,
            style=style,
            freedom=freedom,
        )
    except ValueError as error:
        raise InvalidRequest.of("--count", str(error).removeprefix("count ")) from error
    print_json_lines(asdict(question) for question in drawn)


def _print_form_questions(form: str, seed: int, *, count: int, split: Split | None) -> None:
    with lab_required("scaar lab"):
        from scaar.lab.sentences import draw_form_questions, parse_form
        from scaar.lab.world import build_world
    try:
        parsed = parse_form(form)
    except ValueError as error:
        raise InvalidRequest.of("--sentences", str(error)) from error
    drawn = draw_form_questions(build_world(seed), parsed, count=count, split=split and split.value)
    print_json_lines(asdict(question) for question in drawn)


@app.command("passages")
def passages(
    seed: Seed = LAB_SEED,
    variant: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="none; distractors (adds passages about similar names), no_answer (without the "
            "passages about tail films), false (with the values of other films) or facts (a "
            "passage for each fact).",
        ),
    ] = "none",
) -> None:
    """Print the passages, in the layout of `scaar index build`."""
    with lab_required("scaar lab"):
        from scaar.lab.variants import Variant, varied_passages
        from scaar.lab.world import build_world
    if variant not in list(Variant):
        known = ", ".join(Variant)
        raise InvalidRequest.of("--variant", f"there is no variant {variant!r}; known: {known}")
    varied = varied_passages(build_world(seed), Variant(variant))
    print_json_lines(asdict(passage) for passage in varied)


def _films(of: "World") -> Iterator[dict[str, object]]:
    from scaar.lab.passages import passage_id
    from scaar.lab.world import SUBJECTS

    for position, film in enumerate(of.films):
        known = position < len(of.known)
        yield {
            "id": passage_id(SUBJECTS[0], position),
            "title": film.title,
            "known": known,
            "rank": position + 1 if known else None,
            "released": film.released,
            "star": film.star,
            "director": asdict(film.director),
        }
