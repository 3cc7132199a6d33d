"""The command line: ``scaar``."""

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from scaar import __version__
from scaar.cli.ask import ask
from scaar.cli.calibrate import calibrate_policy
from scaar.cli.corpus import app as corpus_app
from scaar.cli.dataset import app as dataset_app
from scaar.cli.db import app as db_app
from scaar.cli.demo import demo
from scaar.cli.doctor import doctor
from scaar.cli.eval import app as eval_app
from scaar.cli.evals import app as evals_app
from scaar.cli.index import app as index_app
from scaar.cli.lab import app as lab_app
from scaar.cli.models import app as models_app
from scaar.cli.search import search
from scaar.cli.serve import serve
from scaar.cli.settings import use_config
from scaar.cli.up import up
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.runtime.config_file import CONFIG_VARIABLE

USAGE_ERROR, FAILURE, INTERRUPTED = 2, 1, 130

app = typer.Typer(
    name="scaar",
    help="Answers questions, looking things up exactly when the model is unsure of what matters.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(ask)
app.command()(search)
app.add_typer(index_app, name="index")
app.add_typer(corpus_app, name="corpus")
app.add_typer(dataset_app, name="dataset")
app.command()(up)
app.command()(serve)
app.add_typer(models_app, name="models")
app.add_typer(eval_app, name="eval")
app.add_typer(evals_app, name="evals")
app.command("calibrate")(calibrate_policy)
app.add_typer(lab_app, name="lab")
app.add_typer(db_app, name="db")
app.command()(doctor)
app.command()(demo)


@app.callback(invoke_without_command=True)
def _before(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            envvar=CONFIG_VARIABLE,
            metavar="FILE",
            help="Settings of the services as YAML, a section each; the environment goes over it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    if version:
        print(f"scaar {__version__}")
        raise typer.Exit
    if config is not None:
        context.call_on_close(use_config(config))


def main() -> None:
    """Runs the command line; a user's mistake is one line and status 2, a failure one and 1."""
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8, and a mark must not be an error where the locale knows less.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    try:
        status = app(prog_name="scaar", standalone_mode=False)
    except typer.TyperException as error:
        return _fail(error.format_message(), error.exit_code)
    except InvalidRequest as error:
        return _fail(str(error), USAGE_ERROR)
    except ScaarError as error:
        return _fail(str(error), FAILURE)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `| head` does; nothing more can be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status if isinstance(status, int) else 0


def _fail(message: str, status: int) -> int:
    # A group of commands alone is answered with its help, which keeps its lines.
    is_help = message.startswith("Usage: ")
    print(message if is_help else f"scaar: {' '.join(message.split())}", file=sys.stderr)
    return status
