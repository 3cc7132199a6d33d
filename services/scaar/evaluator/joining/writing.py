"""The report over evaluations that are joined, as files in a folder of its own."""

from collections.abc import Sequence
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.evaluator.joining.composing import compose_joined
from scaar.evaluator.joining.joined import join
from scaar.evaluator.report.model import Report
from scaar.evaluator.report.options import ReportOptions
from scaar.evaluator.report.writing import write_files
from scaar.evaluator.store.folder import EVALUATION


def write_joined(
    folders: Sequence[Path], out: Path, options: ReportOptions | None = None
) -> Report:
    """Writes report.md, .html and .json, tables/*.csv and figures/*.svg of the folders to ``out``.

    Raises:
        InvalidRequest: the folders do not go together, or ``out`` is an evaluation's.
        DataCorrupt: naming folder and file that does not hold together.
        ScaarError: a file cannot be written.
    """
    if (out / EVALUATION).exists():
        text = f"{out} holds an evaluation, whose report would go; name a folder of its own"
        raise InvalidRequest.of("--out", text)
    if out.exists() and not out.is_dir():
        raise InvalidRequest.of("--out", f"{out} is not a folder")
    report = compose_joined(join(folders, options))
    write_files(report, out)
    return report
