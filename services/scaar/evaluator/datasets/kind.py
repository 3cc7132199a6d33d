"""What a data set is: how its files are read, and how its answers are found and measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scaar.core.types import Passage
from scaar.evaluator.datasets.answers import as_written
from scaar.evaluator.records import Question

MATCHES = ("exact_match", "f1", "precision", "recall")
"""The measures of a short answer that is written freely."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where questions come from: a file or a folder; or the lab's world, which has neither."""

    path: Path | None = None
    aliases: Path | None = None
    """A second file with further names of the answers, for the sets that have one."""
    seed: int | None = None
    count: int | None = None
    style: float | None = None
    """The rate of questions that are answered in words of style, of the lab's."""
    tail_share: float | None = None
    """The share of questions of the long tail, of the lab's; None is one half, in turns."""

    @property
    def file(self) -> Path:
        """The path, of a data set that is always read from one."""
        assert self.path is not None
        return self.path


@dataclass(frozen=True, slots=True)
class Row:
    """A question and where it stands; or why that record is none."""

    place: str
    question: Question | None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A data set by name: its reader, and what suits its questions."""

    name: str
    title: str
    layout: str
    """The fields of a record, for those whose file has others."""
    marks: frozenset[str]
    """Fields that a record of it has, and that tell it from others."""
    read: Callable[[Source], Iterator[Row]]
    exemplars: str = ""
    """The set of examples that suits it (:mod:`scaar.core.prompts`); empty: the layout's own."""
    max_tokens: int = 100
    """How much an answer may be generated."""
    measures: tuple[str, ...] = MATCHES
    extract: Callable[[str, Question], str] = as_written
    passages: Callable[[Source], Iterator[Passage]] | None = None
    """The passages that the file brings, one a title; None where it brings none."""
    takes_aliases: bool = False
    of_a_file: bool = True
