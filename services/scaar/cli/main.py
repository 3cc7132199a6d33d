"""The command line: ``scaar``."""

import io
import os
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from scaar import __version__
from scaar.cli.lazy import lazy_group
from scaar.cli.settings import sources_reported, use_config
from scaar.cli.standard_output import CheckedOutput, OutputClosed, OutputFailed
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.runtime.config_file import CONFIG_VARIABLE

USAGE_ERROR, FAILURE, INTERRUPTED = 2, 1, 130

COMMANDS = {
    "ask": "scaar.cli.ask.commands:ask",
    "search": "scaar.cli.index.search:search",
    "up": "scaar.cli.serve.up:up",
    "serve": "scaar.cli.serve.commands:serve",
    "tune": "scaar.cli.eval.tune:tune_policy",
    "doctor": "scaar.cli.serve.doctor:doctor",
    "demo": "scaar.cli.ask.demo:demo",
    "index": "scaar.cli.index.commands:app",
    "corpus": "scaar.cli.index.corpus:app",
    "dataset": "scaar.cli.dataset:app",
    "records": "scaar.cli.records.commands:app",
    "models": "scaar.cli.models.commands:app",
    "eval": "scaar.cli.eval.commands:app",
    "lab": "scaar.cli.lab.commands:app",
    "db": "scaar.cli.serve.db:app",
}
"""Where each command is, in the order of the help: ``module:function`` or ``module:app``."""

app = typer.Typer(
    name="scaar",
    cls=lazy_group(COMMANDS),
    help="Answer questions with adaptive retrieval: passages are retrieved when the model is "
    "unsure of a word that matters.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _before(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            envvar=CONFIG_VARIABLE,
            metavar="FILE",
            help="YAML file with a section of settings for each service; environment variables "
            "override it.",
        ),
    ] = None,
) -> None:
    if version:
        print(f"scaar {__version__}")
        raise typer.Exit
    if config is not None:
        use_config(config)


def main() -> None:
    """Run the command line; a usage error prints one line with status 2, a failure with 1."""
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8; characters that the locale cannot encode are escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        # With PYTHONUNBUFFERED, a line and its end would be two writes, and services share a file.
        sys.stderr.reconfigure(line_buffering=True, write_through=False)
    # Standard output is None if its descriptor is closed.
    checked = nullcontext() if sys.stdout is None else redirect_stdout(CheckedOutput(sys.stdout))
    with checked:
        status = _run()
    sys.exit(status)


def _run() -> int:
    status = 0
    try:
        status = _run_command()
        # Not left to the interpreter's exit, which would print a traceback.
        if sys.stdout is not None:
            sys.stdout.flush()
    except OutputClosed:
        _discard_output()
    except OutputFailed as error:
        _discard_output()
        return _fail(str(error), FAILURE)
    return status


def _discard_output() -> None:
    # The interpreter flushes the rest of the buffer when it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run_command() -> int:
    try:
        with sources_reported():
            status = app(prog_name="scaar", standalone_mode=False)
    except typer.TyperException as error:
        return _fail(error.format_message(), error.exit_code)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package == "scaar":
            raise
        return _fail(f"this command needs {package}: install its extra, or scaar[all]", FAILURE)
    except InvalidRequest as error:
        return _fail(str(error), USAGE_ERROR)
    except ScaarError as error:
        return _fail(str(error), FAILURE)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def _fail(message: str, status: int) -> int:
    # A group without a command prints its help, which keeps its lines.
    is_help = message.startswith("Usage: ")
    print(message if is_help else f"scaar: {' '.join(message.split())}", file=sys.stderr)
    return status
