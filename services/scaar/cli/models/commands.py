"""``scaar models``: the catalogue of models and those on this machine; exports of others."""

from typing import Annotated

import typer

from scaar.cli.models.export import build_engine, export_encoder, export_scorer
from scaar.cli.models.get import get
from scaar.cli.models.tables import model_table, print_model
from scaar.cli.notes import print_notes
from scaar.cli.tables import Format, print_table
from scaar.compose import build_model_store
from scaar.core.errors import ScaarError
from scaar.runtime.disk import size_text

app = typer.Typer(
    help="Get, list, verify and remove models; export others.",
    invoke_without_command=True,
)
app.command("get")(get)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the model.")]


@app.callback()
def models(context: typer.Context, output: Format = None) -> None:
    """List the models of the catalogue and of this machine; get, verify and remove them."""
    if context.invoked_subcommand is None:
        list_models(output)


@app.command("list")
def list_models(output: Format = None) -> None:
    """List the models of catalogue and machine."""
    print_table(model_table(build_model_store().installed()), output)


@app.command("show")
def show(name: Name, output: Format = None) -> None:
    """Print the licence, the sources and the file of a model."""
    print_model(name, build_model_store().find(name), output)


@app.command("verify")
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Models. Default: all.")
    ] = None,
) -> None:
    """Compare the files of models with their SHA-256.

    A corrupt file is renamed, so that nothing uses it. The exit status is 1 if there is one.
    """
    store = build_model_store()
    failed = 0
    for name in names or [model.name for model in store.installed()]:
        try:
            model = store.verify(name)
        except ScaarError as error:
            failed += 1
            print_notes(f"scaar: {error}")
        else:
            origin = "published" if model.published else "first downloaded"
            print(f"{name}: {model.path} is the file that was {origin}, SHA-256 {model.sha256}")
    if failed:
        raise typer.Exit(1)


@app.command("remove")
def remove(name: Name) -> None:
    """Remove a model: its file too, if scaar downloaded it."""
    store = build_model_store()
    model = store.installed_model(name)
    freed = store.remove(name)
    kept = "" if model.owned else f"; its file {model.path} was not downloaded by scaar and stays"
    print(f"{name}: removed, {size_text(freed)} freed{kept}")


app.command("export-scorer")(export_scorer)
app.command("build-engine")(build_engine)
app.command("export-encoder")(export_encoder)
