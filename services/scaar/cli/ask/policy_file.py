"""``--policy-file``: the artefact of a tuned policy, for answers in this process."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.compose import EMBEDDED
from scaar.core.errors import InvalidRequest
from scaar.core.types import PolicyArtefact
from scaar.orchestrator.settings import read_artefact

PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy-file",
        metavar="FILE",
        help="Artefact of a tuned policy, written by scaar tune, instead of --policy. With "
        "--address, name a tuned policy of the orchestrator with --policy.",
    ),
]
AllowMismatch = Annotated[
    bool,
    typer.Option(
        "--allow-mismatch",
        help="Use a tuned policy also with a model, scorer or kind of index that it was not tuned "
        "on. The provenance of the answer lists the differences.",
    ),
]


def read_policy_file(path: Path, *, target: str, policy: str | None) -> PolicyArtefact:
    """Return the artefact in a file.

    Raises:
        InvalidRequest: the file is combined with --policy or a running orchestrator.
        NotFound: the file does not exist or cannot be read.
        DataCorrupt: the file contains no valid artefact; names the field.
    """
    if policy is not None:
        raise InvalidRequest.of("--policy-file", "cannot be combined with --policy")
    if target != EMBEDDED:
        text = "cannot be sent to a running orchestrator: add the file to its policy_folder, and"
        raise InvalidRequest.of("--policy-file", f"{text} name the policy with --policy")
    return read_artefact(path)
