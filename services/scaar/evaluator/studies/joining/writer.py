"""The files of the report on joined evaluations."""

from collections.abc import Sequence
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.evaluator.report.model import Report
from scaar.evaluator.report.options import ReportOptions
from scaar.evaluator.report.writer import write_files
from scaar.evaluator.store.folder import DATABASE
from scaar.evaluator.studies.joining.evaluations import join
from scaar.evaluator.studies.joining.report import compose_joined


def write_joined(
    folders: Sequence[Path], out: Path, options: ReportOptions | None = None
) -> Report:
    """Write report.md, .html and .json, tables/*.csv and figures/*.svg into ``out``.

    Raises:
        InvalidRequest: the folders cannot be joined, or ``out`` contains an evaluation.
        DataCorrupt: naming the folder and the corrupt file.
        ScaarError: a file cannot be written.
    """
    if (out / DATABASE).exists():
        text = f"{out} contains an evaluation with its own report; name another folder"
        raise InvalidRequest.of("--out", text)
    if out.exists() and not out.is_dir():
        raise InvalidRequest.of("--out", f"{out} is not a folder")
    report = compose_joined(join(folders, options))
    write_files(report, out)
    return report
