"""The ``--address`` options of commands that reach a running service."""

from typing import Annotated

import typer

from scaar.cli.serve.services import ServiceName, default_address
from scaar.compose import EMBEDDED, FOLDER, check_folder_target
from scaar.runtime.targets import check_target

LOCAL_EVALUATOR = f"dns:///{default_address(ServiceName.EVALUATOR)}"


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
        callback=check_evaluator,
        metavar="HOST:PORT",
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
