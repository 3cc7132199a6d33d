"""Precision and recall of the rule for supporting passages: ``python -m record.documents.support``.

``python -m record.documents.support INDEXES [--prefix PREFIX]`` prints a row for each file of
labelled sentences, and one for all. INDEXES is the folder of the indexes of the folders of
documents (``SCAAR_RETRIEVER_INDEXES``), which ``record.documents.folders`` and ``scaar index
build`` make; PREFIX is of their names.

A line of ``support.jsonl`` and ``support-qwen15.jsonl`` has a sentence of an answer, the ids of the
passages that the model read, and of those the ones that state all of its content, by the judgement
of a person. ``support.jsonl`` was labelled before a rule was written; ``support-qwen15.jsonl``, the
first sentence of each answer of a larger model, before the present rule was.
"""

import argparse
import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaar.core.ports import Retriever
from scaar.core.text.support import supporting_passages
from scaar.core.types import PassageRequest, RetrievedPassage
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings

FOLDER = Path(__file__).parent
FILES = ("support.jsonl", "support-qwen15.jsonl")
QUESTIONS = "questions.jsonl"


@dataclass(frozen=True, slots=True)
class Counts:
    """Passages that the rule and the labels state, of some sentences."""

    sentences: int = 0
    both: int = 0
    rule_only: int = 0
    labels_only: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.sentences + other.sentences,
            self.both + other.both,
            self.rule_only + other.rule_only,
            self.labels_only + other.labels_only,
        )

    @property
    def precision(self) -> float:
        """Share of the rule's passages that are labelled as supporting."""
        return self.both / max(1, self.both + self.rule_only)

    @property
    def recall(self) -> float:
        """Share of the labelled passages that the rule states."""
        return self.both / max(1, self.both + self.labels_only)


async def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("indexes", type=Path)
    parser.add_argument("--prefix", default="")
    options = parser.parse_args()
    questions = {line["id"]: line for line in _lines(QUESTIONS)}
    settings = RetrieverSettings.read().model_copy(update={"indexes": options.indexes})
    print("file                  sentences  labelled  found  precision  recall")
    total = Counts()
    async with open_retriever(settings) as retriever:
        for name in FILES:
            counts = Counts()
            for line in _lines(name):
                question = questions[line["id"]]
                passages = await _passages(
                    retriever, options.prefix + question["folder"], line["passages"]
                )
                counts += counted(line, question["question"], passages)
            print(_row(name, counts))
            total += counts
    print(_row("all", total))


def counted(line: Mapping[str, Any], question: str, passages: Iterable[RetrievedPassage]) -> Counts:
    """Return the counts of one labelled sentence."""
    stated = set(supporting_passages(line["sentence"], question, tuple(passages)))
    labelled = set(line["supporting"])
    return Counts(1, len(stated & labelled), len(stated - labelled), len(labelled - stated))


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


async def _passages(
    retriever: Retriever, index: str, names: Iterable[str]
) -> list[RetrievedPassage]:
    passages = []
    for rank, name in enumerate(names, 1):
        passage = (await retriever.get_passage(PassageRequest(index, name))).passage
        passages.append(
            RetrievedPassage(
                id=passage.id, title=passage.title, text=passage.text, score=0.0, rank=rank
            )
        )
    return passages


def _row(name: str, counts: Counts) -> str:
    labelled = counts.both + counts.labels_only
    return (
        f"{name:20}  {counts.sentences:9}  {labelled:8}  {counts.both + counts.rule_only:5}  "
        f"{counts.precision:9.2f}  {counts.recall:6.2f}"
    )


if __name__ == "__main__":
    asyncio.run(main())
