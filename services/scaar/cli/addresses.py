"""The ``--address`` options of commands that reach a running service."""

from typing import Annotated

import typer

from scaar.cli.running_services import running_target
from scaar.cli.serve.services import ServiceName, default_address
from scaar.compose import EMBEDDED, FOLDER, check_folder_target
from scaar.runtime.targets import check_target

_EVALUATOR = default_address(ServiceName.EVALUATOR)
_RECORDS = default_address(ServiceName.RECORDS)
RUNNING = ""
"""Default of ``--address`` or ``--target``: the service of the running ``scaar up``."""


def check_address(address: str) -> str:
    """Return the value of ``--address`` if it is a gRPC target or ``embedded``.

    Raises:
        InvalidRequest: the value is neither; says what to write.
    """
    if address != EMBEDDED:
        check_target(address, field="--address")
    return address


def _check_retriever_address(address: str) -> str:
    """Return the address of a retriever, which may be the URL of an OpenSearch server."""
    return address if address.startswith(("http://", "https://")) else check_address(address)


def check_evaluator(target: str | None) -> str | None:
    """Return the value of ``--target`` if it is unset, a gRPC target or ``embedded:DIR``."""
    if target is not None and target.startswith(FOLDER):
        check_folder_target(target, field="--target")
    elif target is not None:
        check_target(target, field="--target")
    return target


def _evaluator_or_running(context: typer.Context, target: str) -> str:
    if target == RUNNING:
        return _running(context, ServiceName.EVALUATOR)
    check_evaluator(target)
    return target


def _records_or_running(context: typer.Context, address: str) -> str:
    return _running(context, ServiceName.RECORDS) if address == RUNNING else check_address(address)


def _running(context: typer.Context, service: ServiceName) -> str:
    # Shell completion must not wait for a scaar up.
    return RUNNING if context.resilient_parsing else running_target(service)


def check_orchestrator(address: str | None) -> str | None:
    """Return the value of ``--address`` if it is unset, a gRPC target or ``embedded``."""
    return None if address is None else check_address(address)


OrchestratorAddress = Annotated[
    str,
    typer.Option(
        "--address",
        callback=check_address,
        metavar="HOST:PORT",
        help="Running orchestrator, or a gRPC target such as dns:///HOST:PORT; embedded runs "
        "every part in this process.",
    ),
]
RunningOrchestrator = Annotated[
    str | None,
    typer.Option(
        "--address",
        callback=check_orchestrator,
        metavar="HOST:PORT",
        help="Running orchestrator, or a gRPC target such as dns:///HOST:PORT; embedded runs "
        "every part in this process. Default: the running scaar up of the data folder, unless a "
        "setting of this command differs from its own; else embedded.",
    ),
]
RecordsAddress = Annotated[
    str,
    typer.Option(
        "--address",
        callback=_records_or_running,
        metavar="HOST:PORT",
        show_default=f"that of the running scaar up, else {_RECORDS}",
        help="Running service of records, or a gRPC target such as dns:///HOST:PORT; embedded "
        "opens the database of SCAAR_RECORDS_DATABASE.",
    ),
]
CheckedAddress = Annotated[
    str,
    typer.Option(
        "--address",
        callback=check_address,
        metavar="HOST:PORT",
        help="Also check this running orchestrator (HOST:PORT, or a gRPC target such as "
        "dns:///HOST:PORT). Default: none.",
        show_default=False,
    ),
]
RetrieverAddress = Annotated[
    str,
    typer.Option(
        "--address",
        callback=_check_retriever_address,
        metavar="HOST:PORT",
        help="Running retriever, a gRPC target such as dns:///HOST:PORT, or an OpenSearch server "
        "(https://HOST:9200); embedded uses the indexes of this machine.",
    ),
]
EvaluatorTarget = Annotated[
    str,
    typer.Option(
        "--target",
        callback=_evaluator_or_running,
        metavar="HOST:PORT",
        show_default=f"that of the running scaar up, else {_EVALUATOR}",
        help="Running evaluator, or a gRPC target such as dns:///HOST:PORT; embedded:DIR is an "
        "evaluator in this process with the folder's evaluations.",
    ),
]
OptionalEvaluator = Annotated[
    str | None,
    typer.Option(
        "--target",
        callback=check_evaluator,
        metavar="HOST:PORT",
        help="Running evaluator that has the evaluation, a gRPC target such as "
        "dns:///HOST:PORT, or embedded:DIR. Default: a folder of this machine.",
    ),
]
