"""The options that the commands of ``scaar eval`` share, and what they ask for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.overrides import parse_overrides
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies import PRESETS
from scaar.core.types import BudgetLimits, Gate
from scaar.evaluator.planning.indexes import check_names
from scaar.evaluator.planning.settings import Value

TIMEOUT_S = BudgetLimits().timeout_s

Policies = Annotated[
    str,
    typer.Option(metavar="NAME,...", help=f"Of {', '.join(PRESETS)}; all of them if not given."),
]
Dataset = Annotated[
    str, typer.Option(metavar="NAME[:PATH]", help="The data set: lab, or one with its file.")
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", help="So many of its questions.", show_default=False)
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="S",
        help="Which questions are drawn, and which half an entity is in; of lab, which world.",
        show_default=False,
    ),
]
Style = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        help="Of lab: the share of questions that are answered in words of style.",
        show_default=False,
    ),
]
TailShare = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Of lab: the share of questions that are of the long tail; one half if not given.",
        show_default=False,
    ),
]
Aliases = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Further names of a data set's answers.", show_default=False),
]
Index = Annotated[
    str | None,
    typer.Option(help="The index to retrieve from; of lab, its world's.", show_default=False),
]
Indexes = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="NAME[,NAME]",
        help="The index to retrieve from, or several of the same passages beside each other; of "
        "lab, its world's.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder of the results.")]
Concurrency = Annotated[
    int, typer.Option(metavar="N", min=1, max=64, help="How many questions at a time.")
]
Target = Annotated[
    str, typer.Option(help="A running orchestrator (dns:///host:port), or embedded.")
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="[SCORER=]TARGET",
        help="A running orchestrator (dns:///host:port), or embedded; one more for each control.",
        show_default=False,
    ),
]
Scorers = Annotated[
    str,
    typer.Option(
        "--scorer",
        metavar="NAME,...",
        help=f"Contributions of the scorer (none) or of its controls: {', '.join(Control)}.",
        show_default=False,
    ),
]
Gates = Annotated[
    str,
    typer.Option(
        "--gate",
        metavar="NAME[:THRESHOLD],...",
        help=f"Ask each policy that retrieves behind a gate too: {', '.join(Gate)}; at the "
        "threshold of its file, or at this one.",
        show_default=False,
    ),
]
Grid = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="So many values of theta a policy, at quantiles of its own trigger score.",
        show_default=False,
    ),
]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", help="The longest that an answer may take.")
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Ask again what failed in this folder.")
]
SkipUnserved = Annotated[
    bool,
    typer.Option(
        "--skip-unserved", help="Leave out, and name, what the model lacks something for."
    ),
]
KeepGenerations = Annotated[
    bool,
    typer.Option(
        "--keep-generations",
        help="Ask the model once for what settings have in common. Times are then not measured.",
    ),
]
Theta = Annotated[
    str | None, typer.Option(metavar="V,...", help="Values of theta.", show_default=False)
]
Alpha = Annotated[
    str | None, typer.Option(metavar="V,...", help="Values of alpha.", show_default=False)
]
TopK = Annotated[
    str | None, typer.Option(metavar="V,...", help="Values of top_k.", show_default=False)
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=V,...", help="Values of any setting of a policy."),
]


def policy_names(policies: str) -> tuple[str, ...]:
    """The names in the text; every policy where it is empty."""
    return names_of(policies) if policies else tuple(PRESETS)


def index_names(text: str | None) -> tuple[str, ...]:
    """The names of the indexes in the text; none where there is no text.

    Raises:
        InvalidRequest: one is empty or given twice.
    """
    names = () if text is None else names_of(text)
    check_names(names)
    return names


def names_of(text: str) -> tuple[str, ...]:
    """The names in the text, which commas part."""
    return tuple(each.strip() for each in text.split(","))


def values_of(
    theta: str | None, alpha: str | None, top_k: str | None, settings: Sequence[str]
) -> dict[str, tuple[Value, ...]]:
    """The values of each setting that is given.

    Raises:
        InvalidRequest: naming every setting that does not exist, is given twice, or has a value
            that does not parse.
    """
    given = [("theta", theta), ("alpha", alpha), ("top_k", top_k)]
    texts = [(name, text) for name, text in given if text is not None]
    texts += [(name, text) for name, _, text in (each.partition("=") for each in settings)]
    found: dict[str, tuple[Value, ...]] = {}
    wrong = [
        Violation("--set", f"must be NAME=V,..., not {each!r}")
        for each in settings
        if "=" not in each
    ]
    if wrong:
        raise InvalidRequest(wrong)
    for name, text in texts:
        if name in found:
            wrong.append(Violation(name, "is given twice"))
            continue
        values = []
        for value in text.split(","):
            try:
                parsed = parse_overrides([f"{name}={value.strip()}"])
            except InvalidRequest as error:
                wrong += error.violations
                break
            values.append(getattr(parsed, name))
        found[name] = tuple(values)
    if wrong:
        raise InvalidRequest(wrong)
    return found
