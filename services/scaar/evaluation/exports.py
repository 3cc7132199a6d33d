"""Results in the formats of other tools."""

import csv
import enum
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.plurals import counted
from scaar.core.types import PassagesRetrieved
from scaar.evaluation.results import Results
from scaar.evaluator.records import Prediction
from scaar.evaluator.store.files import write_texts, write_whole
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.studies.retrieval.trec import qrels_lines, run_lines


class ExportFormat(enum.StrEnum):
    """Format of an export."""

    JSONL = "jsonl"
    PREDICTIONS = "predictions"
    CSV = "csv"
    PARQUET = "parquet"
    LATEX = "latex"
    TREC = "trec"


QRELS = "qrels"
"""The file of the relevant passages in an export for TREC's tools."""
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    each: f"\\{each}" for each in "&%$#_{}"
}
_HEADINGS = {"f1": "F1", "exact_match": "EM", "accuracy": "Accuracy"}


def export(results: Results, export_format: ExportFormat, out: Path) -> None:
    """Write results to the file ``out``, for ``trec`` into the folder.

    ``jsonl``, ``csv`` and ``parquet`` have the rows of :meth:`Results.rows`; ``predictions`` has
    the stored predictions of a folder as JSON lines; ``latex`` is a table of the settings; ``trec``
    has a run of each setting, and the relevant passages.

    Raises:
        CapabilityMissing: a library of the format is not installed.
        InvalidRequest: for ``trec``: no question names its supports; for ``predictions``: the
            results are those of an evaluator; or ``out`` is a file, or for the other formats a
            folder.
        ScaarError: a file cannot be written.
    """
    if export_format is ExportFormat.TREC:
        if out.exists() and not out.is_dir():
            raise InvalidRequest.of("out", f"{out} is not a folder")
        write_texts(out, dict(_trec_files(results)))
        return
    if out.is_dir():
        raise InvalidRequest.of("out", f"{out} is a folder")
    write_whole(out, _FORMATS[export_format](results))


def _jsonl(results: Results) -> bytes:
    rows = (json.dumps(each, ensure_ascii=False) for each in results.rows())
    return "".join(f"{each}\n" for each in rows).encode()


def _predictions(results: Results) -> bytes:
    return b"".join(map(RecordJson(Prediction).line, results.records()))


def _csv(results: Results) -> bytes:
    rows = results.rows()
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0] if rows else (), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "accepted_answers": json.dumps(row["accepted_answers"])})
    return text.getvalue().encode()


def _parquet(results: Results) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise CapabilityMissing("Parquet needs pyarrow: install scaar[parquet]") from error
    rows = results.rows()
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    columns["failure"] = pyarrow.array(columns["failure"], pyarrow.string())
    buffer = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    written: bytes = buffer.getvalue().to_pybytes()
    return written


def _latex(results: Results) -> bytes:
    found = results.summaries()
    others = [name for name in results.measures if name != found[0].measure]
    headings = [_HEADINGS.get(name, _escaped(name)) for name in (found[0].measure, *others)]
    columns = ["Setting", headings[0], r"95\,\% interval", *headings[1:]]
    columns += ["Retrievals", "Model calls", "Tokens"]
    lines = [
        f"% {counted(len(results.questions), 'question')}; means per question",
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
        r"\toprule",
        " & ".join(columns) + r" \\",
        r"\midrule",
    ]
    for each in found:
        cells = [_escaped(each.setting), f"{each.means[each.measure]:.3f}"]
        cells.append("--" if each.low is None else f"[{each.low:.3f}, {each.high:.3f}]")
        cells += [f"{each.means[name]:.3f}" for name in others]
        cells += [f"{each.means['retrievals']:.2f}", f"{each.means['llm_calls']:.2f}"]
        cells.append(f"{each.means['generated_tokens']:.0f}")
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "".join(f"{line}\n" for line in lines).encode()


def _trec_files(results: Results) -> Iterator[tuple[str, str]]:
    """The runs and the relevant passages, in the formats of trec_eval.

    Passages have the rank of their first retrieval in the answer. Scores fall with the rank.
    """
    relevant = [
        line
        for question in results.questions
        for line in qrels_lines(question.id, dict.fromkeys(question.supports))
    ]
    if not relevant:
        text = "needs questions that name the passages with their answers (supports)"
        raise InvalidRequest.of("format", text)
    yield QRELS, "".join(relevant)
    lines: dict[str, list[str]] = {label: [] for label in results.settings}
    for prediction in results.detailed():
        retrieved = dict.fromkeys(
            each.id
            for event in prediction.events
            if isinstance(event, PassagesRetrieved)
            for each in event.passages
        )
        lines[prediction.setting] += run_lines(
            prediction.question_id, retrieved, prediction.setting
        )
    for label, written in lines.items():
        yield f"{_file_name(label)}.run", "".join(written)


def _file_name(label: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.,=-]", "_", label)


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(each, each) for each in text)


_FORMATS: Mapping[ExportFormat, Callable[[Results], bytes]] = MappingProxyType(
    {
        ExportFormat.JSONL: _jsonl,
        ExportFormat.PREDICTIONS: _predictions,
        ExportFormat.CSV: _csv,
        ExportFormat.PARQUET: _parquet,
        ExportFormat.LATEX: _latex,
    }
)
