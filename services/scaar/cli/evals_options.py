"""The options that the commands of ``scaar evals`` share, and an evaluation as JSON."""

from dataclasses import asdict
from typing import Annotated

import typer

from scaar.cli.json_lines import Record
from scaar.cli.services import ServiceName, default_address
from scaar.core.evaluations import EvaluationDescription

TARGET = f"dns:///{default_address(ServiceName.EVALUATOR)}"

Target = Annotated[str, typer.Option(help="The running evaluator.")]


def record_of(evaluation: EvaluationDescription) -> Record:
    """The evaluation as a JSON object."""
    return asdict(evaluation)
