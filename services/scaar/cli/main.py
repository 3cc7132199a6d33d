"""The command line: ``scaar``."""

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from scaar import __version__
from scaar.cli.ask.commands import ask
from scaar.cli.ask.demo import demo
from scaar.cli.dataset import app as dataset_app
from scaar.cli.eval.commands import app as eval_app
from scaar.cli.eval.tune import tune_policy
from scaar.cli.index.commands import app as index_app
from scaar.cli.index.corpus import app as corpus_app
from scaar.cli.index.search import search
from scaar.cli.lab.commands import app as lab_app
from scaar.cli.models.commands import app as models_app
from scaar.cli.records.commands import app as records_app
from scaar.cli.serve.commands import serve
from scaar.cli.serve.db import app as db_app
from scaar.cli.serve.doctor import doctor
from scaar.cli.serve.up import up
from scaar.cli.settings import use_config
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.runtime.config_file import CONFIG_VARIABLE

USAGE_ERROR, FAILURE, INTERRUPTED = 2, 1, 130

app = typer.Typer(
    name="scaar",
    help="Answer questions with adaptive retrieval: passages are retrieved when the model is "
    "unsure of a word that matters.",
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
app.add_typer(records_app, name="records")
app.add_typer(models_app, name="models")
app.add_typer(eval_app, name="eval")
app.command("tune")(tune_policy)
app.add_typer(lab_app, name="lab")
app.add_typer(db_app, name="db")
app.command()(doctor)
app.command()(demo)


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
    """Run the command line; a usage error prints one line with status 2, a failure with 1."""
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8; characters that the locale cannot encode are escaped.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    try:
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
    except BrokenPipeError:
        # The reader of the output closed it, as `| head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status if isinstance(status, int) else 0


def _fail(message: str, status: int) -> int:
    # A group without a command prints its help, which keeps its lines.
    is_help = message.startswith("Usage: ")
    print(message if is_help else f"scaar: {' '.join(message.split())}", file=sys.stderr)
    return status
