"""Options that the commands of ``scaar eval`` share, and their values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.addresses import check_evaluator
from scaar.cli.ask.overrides import parse_overrides
from scaar.cli.completion import (
    complete_dataset,
    complete_gates,
    complete_index,
    complete_indexes,
    complete_policies,
    complete_setting,
)
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.gates import GATES
from scaar.core.policies import PRESETS
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.policies.settings import SETTINGS
from scaar.core.tenancy import DEFAULT_TENANT
from scaar.core.types import ANSWER_TIMEOUT_S, PolicyArtefact, PolicyRequest
from scaar.evaluator.planning.axes import check_index_names
from scaar.evaluator.planning.settings import Value, default_policies, setting_of
from scaar.evaluator.records import Setting

TIMEOUT_S = ANSWER_TIMEOUT_S
CONCURRENCY = 4


def _values_help(name: str) -> str:
    setting = SETTINGS[name]
    unit = f", in {setting.unit}" if setting.unit else ""
    return f"Values of {name}{unit}. {setting.meaning} Default: each policy's."


Policies = Annotated[
    str,
    typer.Option(
        metavar="NAME,...",
        help=f"Policies: {', '.join(PRESETS.built_in)}. Default: all except filco, dtr, "
        "dtr_reference, model_asks, quco and self_rag.",
        autocompletion=complete_policies,
    ),
]
PolicyFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--policy-file",
        metavar="FILE",
        help="Artefact of a tuned policy, written by scaar tune; repeatable. Without --policies, "
        "only these are evaluated.",
    ),
]
Dataset = Annotated[
    str,
    typer.Option(
        metavar="NAME[:PATH]",
        help="Data set: lab, or NAME:PATH with its file (see `scaar dataset list`).",
        autocompletion=complete_dataset,
    ),
]
AnsweredSources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Answered questions: the folder of a finished evaluation of no_retrieval and "
        "single_round, or NAME:FILE, a data set whose file contains both answers.",
    ),
]
AnswerFields = Annotated[
    str,
    typer.Option(
        "--answers",
        metavar="PREFIX",
        help="For NAME:FILE: the answers are in the fields PREFIX_no_retrieval and "
        "PREFIX_one_retrieval, and a chain of thought in PREFIX_cot_no_retrieval.",
    ),
]
EncoderFolder = Annotated[
    Path | None,
    typer.Option(
        "--encoder",
        metavar="DIR",
        help="Folder of a sentence encoder, as written by scaar models export-encoder. Default: "
        "the encoder of scaar-english, except for questions of the lab.",
    ),
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", help="Number of questions. Default: all; for lab, 500.")
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="S",
        help="Seed of the sample of questions and of the split by entity; for lab, of the world. "
        "Default: 0; for lab, 2000.",
    ),
]
Style = Annotated[
    float | None,
    typer.Option(
        metavar="RATE", help="lab: fraction of questions answered with style words. Default: 1."
    ),
]
TailShare = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="lab: fraction of questions about the long tail. Default: 0.5."
    ),
]
Freedom = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        help="lab: words without facts follow every statement, and this fraction of them varies "
        "freely: 0, 0.25, 0.5 or 1. Default: no such words.",
    ),
]
Aliases = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File of aliases of the data set's answers.")
]
Index = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Index to retrieve from. Default for lab: the index of its world.",
        autocompletion=complete_index,
    ),
]
Indexes = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="NAME[,NAME]",
        help="Index to retrieve from, or several indexes of the same passages to compare. "
        "Default for lab: the index of its world.",
        autocompletion=complete_indexes,
    ),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the results.")]
EvaluationName = Annotated[
    str, typer.Argument(metavar="DIR|ID", help="Folder of an evaluation, or with --target its id.")
]
OptionalOut = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Folder for the results of an evaluation on this machine."
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        callback=check_evaluator,
        metavar="HOST:PORT",
        help="Running evaluator that runs the evaluation instead, or a gRPC target such as "
        "dns:///HOST:PORT; embedded:DIR is an evaluator in this process with the folder's "
        "evaluations.",
    ),
]
RequestId = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        help="Idempotency key, with --target: a repeated call with the same key returns the same "
        "evaluation. Default: random.",
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help=f"Tenant of the evaluation, with --target. Default: {DEFAULT_TENANT}."
    ),
]
Detach = Annotated[
    bool,
    typer.Option(
        "--detach", help="With --target: print the id of the evaluation, and do not wait for it."
    ),
]
Concurrency = Annotated[
    int,
    typer.Option(metavar="N", min=1, max=64, help="Number of questions answered concurrently."),
]
OptionalConcurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="N",
        min=1,
        max=64,
        help=f"Number of questions answered concurrently. Default: {CONCURRENCY}.",
    ),
]
Addresses = Annotated[
    list[str] | None,
    typer.Option(
        "--address",
        metavar="[CONTROL=]HOST:PORT",
        help="Running orchestrator, or a gRPC target such as dns:///HOST:PORT; default: every part "
        "runs in this process. Repeat it as CONTROL=HOST:PORT for each scorer control.",
    ),
]
Scorers = Annotated[
    str,
    typer.Option(
        "--scorer",
        metavar="NAME,...",
        help=f"Scorers: none for the scorer itself, or its controls: {', '.join(Control)}. "
        "Default: none.",
    ),
]
Gates = Annotated[
    str,
    typer.Option(
        "--gate",
        metavar="NAME[:THRESHOLD],...",
        help="Also evaluate each retrieving policy behind a gate, or a router: "
        f"{', '.join(GATES.built_in)}. Default threshold: the gate's own.",
        autocompletion=complete_gates,
    ),
]
Grid = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of thresholds theta for each policy, at quantiles of its trigger score.",
    ),
]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", help="Time limit for an answer, in seconds.")
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Make failed predictions again.")]
SkipUnserved = Annotated[
    bool,
    typer.Option(
        "--skip-unserved",
        help="Leave out settings that the model cannot serve, and name them.",
    ),
]
ProfileName = Annotated[
    str,
    typer.Option(
        "--prompt-profile",
        metavar="NAME",
        help="Prompt profile of every answer, such as instruct@1. Default: that of the model, "
        "and scaar@2 for models whose profile is instruct.",
        show_default=False,
    ),
]
CacheGenerations = Annotated[
    bool,
    typer.Option(
        "--cache-generations",
        help="Cache generations, so that settings share them. Times are not measured.",
    ),
]
Theta = Annotated[str | None, typer.Option(metavar="V,...", help=_values_help("theta"))]
Alpha = Annotated[str | None, typer.Option(metavar="V,...", help=_values_help("alpha"))]
TopK = Annotated[str | None, typer.Option(metavar="V,...", help=_values_help("top_k"))]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=V,...",
        help=f"Values of any policy setting: {', '.join(SETTINGS)}; repeatable.",
        autocompletion=complete_setting,
    ),
]


def policy_names(policies: str) -> tuple[str, ...]:
    """Return the policies in the text; if it is empty, those of every evaluation."""
    if policies:
        return names_of(policies)
    return default_policies()


def named_settings(names: Sequence[str], *, allow_mismatch: bool) -> tuple[Setting, ...]:
    """Return the settings of policies that only the service has, if it has them."""
    requests = (PolicyRequest(name, allow_mismatch=allow_mismatch) for name in names)
    return tuple(map(setting_of, requests))


def tuned_settings(
    artefacts: Sequence[PolicyArtefact], *, allow_mismatch: bool
) -> tuple[Setting, ...]:
    """Return the setting of each tuned policy.

    Raises:
        InvalidRequest: two artefacts have the same name.
    """
    policies, names = TunedPolicies(artefacts), [each.name for each in artefacts]
    if len(policies) < len(names):
        raise InvalidRequest.of("--policy-file", f"two artefacts have the same name: {names}")
    requests = (PolicyRequest(name, allow_mismatch=allow_mismatch) for name in names)
    return tuple(Setting(each.name, policies.resolve(each)) for each in requests)


def index_names(text: str | None) -> tuple[str, ...]:
    """Return the names of indexes in the text.

    Raises:
        InvalidRequest: a name is empty or given twice.
    """
    names = () if text is None else names_of(text)
    check_index_names(names)
    return names


def names_of(text: str) -> tuple[str, ...]:
    """Split a text at its commas."""
    return tuple(each.strip() for each in text.split(","))


def values_of(
    theta: str | None, alpha: str | None, top_k: str | None, settings: Sequence[str]
) -> dict[str, tuple[Value, ...]]:
    """Return the values of each given setting.

    Raises:
        InvalidRequest: names every unknown or repeated setting, and every value that does not
            parse.
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
