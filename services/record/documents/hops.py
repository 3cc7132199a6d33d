"""Questions of several hops, answered by a real model under policies that look before writing.

``python -m record.documents.hops questions DATA OUT`` writes 80 questions of HotpotQA and 80 of
2WikiMultihopQA with their corpora, from samples of these data sets in DATA. ``scaar index build``
and ``scaar eval run`` index and answer them: a folder OUT/DATA_SET/SETTING for each evaluation.
``... hops collect OUT FILE`` stores a line for each answer, and ``... hops table FILE`` prints the
means and the paired differences of F1 from the first setting, with bootstrap intervals of 95%.
"""

import argparse
import csv
import gzip
import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from scaar.evaluator.statistics.estimate import difference

QUESTIONS = 80
RESAMPLES = 10_000
SEED = 0
MEASURES = ("exact_match", "f1", "retrievals", "searches", "generated_tokens", "prompt_tokens")
PREDICTIONS = "select record from predictions"
CORPORA = {
    "hotpotqa": "hotpotqa/hotpotqa_500.corpus.jsonl.gz",
    "2wikimultihopqa": "2wikimultihopqa/2wikimultihopqa_1000.corpus.jsonl.gz",
}


def main() -> None:
    """Run the subcommand."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, arguments in (
        ("questions", ("data", "out")),
        ("collect", ("out", "file")),
        ("table", ("file",)),
    ):
        command = commands.add_parser(name)
        for argument in arguments:
            command.add_argument(argument, type=Path)
    options = parser.parse_args()
    match options.command:
        case "questions":
            write_questions(options.data, options.out)
        case "collect":
            lines = [json.dumps(answer) for answer in collected(options.out)]
            options.file.write_text("".join(f"{line}\n" for line in lines))
        case _:
            print(table(read(options.file)))


def write_questions(data: Path, out: Path) -> None:
    """Write ``DATA_SET.jsonl`` and ``DATA_SET.corpus.jsonl`` of both data sets.

    The questions are the first ones by the SHA-256 of their text. Those of HotpotQA are in the
    sample of 500 questions and not in the one of 1,000.
    """
    larger = {line["question"] for line in read(data / "hotpotqa/hotpotqa_1000.dev.jsonl")}
    questions = {
        "hotpotqa": [
            line
            for line in read(data / "hotpotqa/hotpotqa_500.dev.jsonl")
            if line["question"] not in larger
        ],
        "2wikimultihopqa": read(data / "2wikimultihopqa/2wikimultihopqa_1000.dev.jsonl"),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, lines in questions.items():
        chosen = sorted(lines, key=_digest)[:QUESTIONS]
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in chosen)
        (out / f"{name}.jsonl").write_text(text)
        corpus = gzip.decompress((data / CORPORA[name]).read_bytes())
        (out / f"{name}.corpus.jsonl").write_bytes(corpus)


def _digest(question: dict[str, Any]) -> str:
    return hashlib.sha256(question["question"].encode()).hexdigest()


def read(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def collected(out: Path) -> Iterator[dict[str, Any]]:
    """Yield every answer of the complete evaluations in a folder, with its scores."""
    for file in sorted(out.glob("*/*/scores.csv")):
        with closing(sqlite3.connect(file.with_name("evaluations.sqlite"))) as database:
            records = [json.loads(row) for (row,) in database.execute(PREDICTIONS)]
        texts = {record["question_id"]: record.get("answer", "") for record in records}
        with file.open() as opened:
            for row in csv.DictReader(opened):
                name = row["question_id"]
                answer = {"data": file.parts[-3], "setting": file.parts[-2], "id": name}
                scores = {measure: round(float(row[measure]), 4) for measure in MEASURES}
                yield {**answer, "answer": texts[name], **scores, "failed": int(row["failed"])}


def table(answers: Sequence[dict[str, Any]]) -> str:
    """Return a row for each data set and setting. The baseline is ``single_round-3``."""
    by_setting = defaultdict[tuple[str, str], dict[str, dict[str, Any]]](dict)
    for answer in answers:
        by_setting[answer["data"], answer["setting"]][answer["id"]] = answer
        by_setting["both", answer["setting"]][answer["id"]] = answer
    rows = ["| questions | setting | answers | EM | F1 | F1 - single_round-3 | prompt tokens |"]
    rows.append("| --- | --- | --- | --- | --- | --- | --- |")
    for (data, setting), scored in by_setting.items():
        means = {name: np.mean([line[name] for line in scored.values()]) for name in MEASURES}
        baseline = by_setting[data, "single_round-3"]
        change = "" if setting == "single_round-3" else _difference(baseline, scored)
        rows.append(
            f"| {data} | {setting} | {len(scored)} | {means['exact_match']:.3f} "
            f"| {means['f1']:.3f} | {change} | {means['prompt_tokens']:.0f} |"
        )
    return "\n".join(rows)


def _difference(baseline: dict[str, dict[str, Any]], scored: dict[str, dict[str, Any]]) -> str:
    """Return the mean paired difference of F1 with its interval."""
    common = sorted(baseline.keys() & scored.keys())
    paired = np.array([scored[name]["f1"] - baseline[name]["f1"] for name in common])
    samples = np.random.default_rng(SEED).integers(len(paired), size=(RESAMPLES, len(paired)))
    estimated = difference(np.concatenate(([paired.mean()], paired[samples].mean(axis=1))))
    return f"{estimated.value:+.3f} [{estimated.low:+.3f}, {estimated.high:+.3f}]"


if __name__ == "__main__":
    main()
