"""The options of ``scaar tune`` beside those of thresholds, and their values."""

import math
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from scaar.cli.eval.options import names_of
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import Rerank, SearchMode
from scaar.evaluator.statistics.cost_units import UNITS
from scaar.evaluator.studies.tuning.candidates import SEARCHES, Label, Searches

_Choice = TypeVar("_Choice", bound=StrEnum)

Triggers = Annotated[
    str | None,
    typer.Option(
        "--trigger",
        metavar="NAME,...",
        help="Triggers to choose from. Default: flare, exp_raw, perplexity, surprisal_sum and "
        "learned, as far as the model serves them.",
    ),
]
Queries = Annotated[
    str | None,
    typer.Option(
        "--query",
        metavar="NAME,...",
        help="Query formulations to choose from. Default: current_sentence and span_masked.",
    ),
]
Alphas = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="V,...",
        help="Shares of words in the query to choose from, in percent, for the queries pfq, "
        "fused and bridged. Default: that of the model or the policy.",
    ),
]
SearchModes = Annotated[
    str | None,
    typer.Option(
        "--search-mode",
        metavar="MODE,...",
        help="Modes of a search to choose from: index (as the index was built), words, vectors, "
        "hybrid. Default: index.",
    ),
]
Reranks = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        metavar="ORDER,...",
        help="Orders of the passages found to choose from: none, cross_encoder. Default: none.",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="NAME,...",
        help="What learned triggers predict: wrong (the draft is wrong; lab only) and benefit "
        "(the expected benefit of a retrieval). Default: both in the lab, elsewhere benefit.",
    ),
]
LatencyWeight = Annotated[
    float,
    typer.Option(
        metavar="W",
        help="Quality that a second of an answer is worth. Candidates are compared by their "
        "quality minus W times the seconds of a cost model, which is fitted to timed answers.",
        show_default="0, time has no effect",
    ),
]
UnitTimes = Annotated[
    list[str] | None,
    typer.Option(
        "--unit-time",
        metavar="NAME=MS",
        help="Time of a unit in the cost model, in milliseconds, instead of the measured one: "
        f"{', '.join(UNITS)}. Repeatable; nothing is timed if all are given.",
    ),
]
LearningCurve = Annotated[
    str | None,
    typer.Option(
        metavar="N,...",
        help="With --budget: also tune on these numbers of questions, and measure each choice on "
        "the fold that its questions are not from.",
    ),
]
Drafts = Annotated[
    Path | None,
    typer.Option(
        "--drafts",
        metavar="FILE",
        help="File of the labelled drafts of the chosen policy, one JSON object per line: both "
        "labels, the signals, and the learned scores out of fold.",
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="File of the whole report as JSON: candidates, estimates, labels, learning curve.",
    ),
]


def parse_labels(text: str | None) -> tuple[Label, ...]:
    """Parse names of labels.

    Raises:
        InvalidRequest: names every one that is unknown.
    """
    return _choices(Label, text, "--label", "label")


def parse_searches(modes: str | None, orders: str | None) -> Searches:
    """Parse the modes of a search, and the orders of the passages found.

    Raises:
        InvalidRequest: names every one that is unknown.
    """
    by_mode = _choices(SearchMode, modes, "--search-mode", "mode")
    by_order = _choices(Rerank, orders, "--rerank", "order")
    return by_mode or SEARCHES[0], by_order or SEARCHES[1]


def parse_alphas(text: str | None) -> tuple[float, ...]:
    """Parse shares of words in percent.

    Raises:
        InvalidRequest: names every text that is not a number.
    """
    names = names_of(text) if text else ()
    found = {each: _number(each) for each in names}
    if wrong := [each for each, value in found.items() if value is None]:
        raise InvalidRequest([Violation("--alpha", f"must be numbers, not {x!r}") for x in wrong])
    return tuple(dict.fromkeys(value for value in found.values() if value is not None))


def parse_unit_times(given: Sequence[str]) -> dict[str, float]:
    """Parse texts such as ``searches=50``.

    Raises:
        InvalidRequest: names every text with an unknown unit or an invalid time.
    """
    found: dict[str, float] = {}
    wrong: list[Violation] = []
    for text in given:
        name, _, number = text.partition("=")
        ms = _number(number)
        if name not in UNITS:
            wrong.append(
                Violation("--unit-time", f"there is no unit {name!r}; known: {', '.join(UNITS)}")
            )
        elif ms is None:
            wrong.append(
                Violation("--unit-time", f"must be {name}=MS with MS of at least 0, not {text}")
            )
        else:
            found[name] = ms
    if wrong:
        raise InvalidRequest(wrong)
    return found


def parse_sizes(text: str | None) -> tuple[int, ...]:
    """Parse numbers of questions.

    Raises:
        InvalidRequest: one is not a whole number.
    """
    names = names_of(text) if text else ()
    if wrong := [each for each in names if not each.isdecimal()]:
        raise InvalidRequest.of("--learning-curve", f"must be whole numbers, not {wrong[0]!r}")
    return tuple(sorted(set(map(int, names))))


def _choices(kind: type[_Choice], text: str | None, option: str, what: str) -> tuple[_Choice, ...]:
    names = names_of(text) if text else ()
    known = ", ".join(kind)
    wrong = [each for each in names if each not in list(kind)]
    if wrong:
        violations = (f"there is no {what} {each!r}; known: {known}" for each in wrong)
        raise InvalidRequest([Violation(option, each) for each in violations])
    return tuple(dict.fromkeys(map(kind, names)))


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found < math.inf else None
