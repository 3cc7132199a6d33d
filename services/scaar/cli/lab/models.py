"""``scaar lab models``: the lab's models, with digests and training reports."""

import json
from pathlib import Path
from typing import Any

from scaar.cli.tables import Column, Format, Table, Value, print_table
from scaar.core.distributions import lab_required
from scaar.core.errors import DataCorrupt

# A report is JSON.
Json = Any


def models(output: Format = None) -> None:
    """List the lab's models.

    --format json prints the whole training report of each model, with its measurements.
    """
    with lab_required("scaar lab"):
        from scaar.lab.models import SHIPPED_MODELS, model_folder
    folders = {name: model_folder(name) for name in SHIPPED_MODELS}
    reports = {name: _report(folder) for name, folder in folders.items()}
    columns = (
        Column("model", right=False),
        Column("size_bytes", "size", lambda size: f"{float(str(size)) / 1e6:.1f} MB"),
        Column("training_s", "training", lambda took: f"{float(str(took)) / 60:.0f} min"),
        Column("seed"),
        Column(
            "model_sha256", "sha256 of model.onnx", lambda digest: f"{digest}"[:16], right=False
        ),
    )
    rows = [_row(name, folders[name], report) for name, report in reports.items()]
    records = [
        {"model": name, "folder": str(folders[name]), **report} for name, report in reports.items()
    ]
    print_table(Table(columns, rows, records), output)


def _report(folder: Path) -> dict[str, Json]:
    path = folder / "training_report.json"
    try:
        report: dict[str, Json] = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise DataCorrupt(f"{path}: the training report cannot be read") from error
    return report


def _row(name: str, folder: Path, report: dict[str, Json]) -> tuple[Value, ...]:
    files: dict[str, str] = report["files"]
    size = sum((folder / file).stat().st_size for file in files)
    return name, size, report["seconds"], report["seed"], files["model.onnx"]
