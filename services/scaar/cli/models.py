"""``scaar models``: the models at hand, with digest and training report."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from scaar.cli.models_encoder import export_encoder
from scaar.cli.models_triton import build_engine, export_scorer
from scaar.core.errors import DataCorrupt
from scaar.lab.models import LAB_CROSS_ENCODER, LANGUAGE_MODELS, model_folder

# A report is JSON.
Json = Any

app = typer.Typer(
    help="List the models that come with scaar; export and build others.",
    invoke_without_command=True,
)
app.command("export-scorer")(export_scorer)
app.command("build-engine")(build_engine)
app.command("export-encoder")(export_encoder)


@app.callback()
def models(
    context: typer.Context,
    as_json: Annotated[
        bool, typer.Option("--json", help="One model a line, with its whole training report.")
    ] = False,
) -> None:
    """List the models that come with scaar, with digest and training report."""
    if context.invoked_subcommand is not None:
        return
    console = Console()
    for name in (*LANGUAGE_MODELS, LAB_CROSS_ENCODER):
        folder = model_folder(name)
        report = _report(folder)
        if as_json:
            print(json.dumps({"model": name, "folder": str(folder), **report}))
        else:
            _show(console, name, folder, report)


def _report(folder: Path) -> dict[str, Json]:
    path = folder / "training_report.json"
    try:
        report: dict[str, Json] = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise DataCorrupt(f"{path}: the training report cannot be read") from error
    return report


def _show(console: Console, name: str, folder: Path, report: dict[str, Json]) -> None:
    files: dict[str, str] = report["files"]
    size = sum((folder / file).stat().st_size for file in files)
    console.print(f"[bold]{name}[/]  {size / 1e6:.1f} MB in {folder}", highlight=False)
    trained = f"trained in {report['seconds'] / 60:.0f} minutes, seed {report['seed']}"
    console.print(f"  {trained}, by `{report['command']}`", highlight=False)
    table = Table(box=None, padding=(0, 2), show_header=False)
    for key, value in report["measured"].items():
        table.add_row("", key.replace("_", " "), f"{value:g}")
    console.print(table)
    table = Table(box=None, padding=(0, 2), show_header=False)
    for file, digest in files.items():
        table.add_row("", file, f"sha256 {digest[:16]}…")
    console.print(table)
    console.print()
