"""StrategyQA: yes-or-no questions whose reasoning steps are implicit.

Geva et al., "Did Aristotle Use a Laptop? A Question Answering Benchmark with Implicit Reasoning
Strategies", TACL 2021. The reader takes the official files (a JSON array of ``qid``, ``term``,
``question``, ``answer`` and more), the same record by record as on Hugging Face, BIG-bench's
``task.json`` (``{"examples": [{"input", "target_scores"}]}``) and its Hugging Face layout
(``inputs``, ``targets``). BIG-bench has no ids, so
the id is made from the number of the record.
"""

from collections.abc import Iterator

from scaar.evaluator.datasets.answers import yes_or_no
from scaar.evaluator.datasets.kind import DatasetKind, Row, Source
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.records import Question

_QUESTION = "Q: "
_ANSWER = "\nA:"


def _read(source: Source) -> Iterator[Row]:
    for number, record in enumerate(records_of(source.file, within="examples"), 1):
        if "input" in record or "inputs" in record:
            yield _of_big_bench(record, number)
        else:
            yield _of_official(record)


def _of_official(record: Record) -> Row:
    identity = record.identity("qid")
    question = Question(
        id=identity,
        question=record.text("question"),
        answers=("yes" if record.truth("answer") else "no",),
        entity=record.label("term") or identity,
    )
    return Row(record.place, question)


def _of_big_bench(record: Record, number: int) -> Row:
    identity = f"strategyqa-{number}"
    prompt = record.text("input" if "input" in record else "inputs")
    question = Question(
        id=identity,
        # The Hugging Face layout has the prompt, not the question alone.
        question=prompt.removeprefix(_QUESTION).removesuffix(_ANSWER.strip()).strip(),
        answers=(_verdict(record),),
        entity=identity,
    )
    return Row(record.place, question)


def _verdict(record: Record) -> str:
    if "target_scores" in record:
        scores = record.part("target_scores").fields
        right = [name for name, value in scores.items() if value == 1]
        field = "target_scores"
    else:
        right = list(record.texts("targets"))
        field = "targets"
    if len(right) != 1 or right[0].lower() not in ("yes", "no"):
        record.wrong(field, f"must have one right answer, yes or no, not {right!r}")
    return right[0].lower()


STRATEGYQA = DatasetKind(
    name="strategyqa",
    title="StrategyQA",
    layout='{"qid", "term", "question", "answer": true or false}',
    marks=frozenset({"qid", "question", "answer"}),
    read=_read,
    exemplars="strategyqa",
    max_tokens=100,
    measures=("accuracy",),
    extract=yes_or_no,
)
