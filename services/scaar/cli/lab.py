"""``scaar lab``: the closed world of any seed as JSON lines, and what is served of it."""

import enum
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from scaar.cli.json_lines import print_json_lines
from scaar.cli.lab_openai import openai
from scaar.cli.lab_tgi import tgi
from scaar.compose import LAB_SEED
from scaar.core.errors import InvalidRequest
from scaar.lab.passages import passage_id, passages_of
from scaar.lab.questions import draw_questions
from scaar.lab.world import SUBJECTS, World, build_world

app = typer.Typer(
    help="The closed world of a seed: printed, asked about, served.", no_args_is_help=True
)
app.command()(tgi)
app.command()(openai)

MAX_SEED = 2**31
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Which world.")]


class Split(enum.StrEnum):
    """Films that the model knows more or less, or films that it has never seen."""

    HEAD = "head"
    TAIL = "tail"


@app.command("world")
def world(seed: Seed = LAB_SEED) -> None:
    """Print the films, the known ones by rank, then the tail."""
    print_json_lines(_films(build_world(seed)))


@app.command("questions")
def questions(
    seed: Seed = LAB_SEED,
    count: Annotated[int, typer.Option(min=0, help="How many.")] = 100,
    split: Annotated[
        Split | None,
        typer.Option(
            help="About known films or tail films only; else in turns.", show_default=False
        ),
    ] = None,
    style: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="RATE", help="The share that is answered in words of style."
        ),
    ] = 1.0,
) -> None:
    """Print questions with their answers and supports."""
    try:
        drawn = draw_questions(
            build_world(seed), count=count, split=split and split.value, style=style
        )
    except ValueError as error:
        raise InvalidRequest.of("--count", str(error).removeprefix("count ")) from error
    print_json_lines(asdict(question) for question in drawn)


@app.command("passages")
def passages(seed: Seed = LAB_SEED) -> None:
    """Print the passages, as `scaar index build` takes them."""
    print_json_lines(asdict(passage) for passage in passages_of(build_world(seed)))


def _films(of: World) -> Iterator[dict[str, object]]:
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
