"""Data sets: how their files are read, and how answers are extracted and measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scaar.core.types import Passage
from scaar.evaluator.datasets.answers import as_written
from scaar.evaluator.records import Question

MATCHES = ("exact_match", "f1", "precision", "recall")
"""The measures of a free-form short answer."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of questions: a file or a folder, or neither for the lab's world."""

    path: Path | None = None
    aliases: Path | None = None
    """A second file with aliases of the answers, for data sets that have one."""
    seed: int | None = None
    count: int | None = None
    style: float | None = None
    """For the lab: the share of questions that are answered in words of style."""
    tail_share: float | None = None
    """For the lab: the share of long-tail questions; None is one half, alternately."""
    freedom: float | None = None
    """For the lab: the share of free words among those without facts that follow a statement; None
    is no such words."""

    @property
    def file(self) -> Path:
        """The path of a data set that is always read from a file."""
        assert self.path is not None
        return self.path


@dataclass(frozen=True, slots=True)
class Row:
    """A question with the place of its record, or the reason why the record has none."""

    place: str
    question: Question | None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class DatasetKind:
    """A data set: its name, its reader, and the options that suit its questions."""

    name: str
    title: str
    layout: str
    """The fields of a record, for the error about another layout."""
    marks: frozenset[str]
    """Fields that identify a record of this data set."""
    read: Callable[[Source], Iterator[Row]]
    exemplars: str = ""
    """The set of few-shot examples (:mod:`scaar.core.prompts`); empty: those of the layout."""
    max_tokens: int = 100
    """Maximum number of generated tokens of an answer."""
    measures: tuple[str, ...] = MATCHES
    extract: Callable[[str, Question], str] = as_written
    passages: Callable[[Source], Iterator[Passage]] | None = None
    """Reads the passages of the file, one per title; None if the data set has none."""
    takes_aliases: bool = False
    of_a_file: bool = True
