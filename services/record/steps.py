"""Steps of records beside those of their own: any command, and an evaluation with its settings."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from record.plan import (
    ANSWERS_A_SECOND,
    MODEL,
    SHARED,
    TIMED_ANSWERS_A_SECOND,
    WORLD_QUESTIONS,
)
from scaar.evaluator.planning.settings import Value
from scaar.evaluator.store.files import read_whole
from scaar.lab.models import LAB_LM

UNCACHED: Mapping[str, str] = {
    "SCAAR_GENERATOR_PREFIX_CACHE_MB": "0",
    "SCAAR_SCORER_CACHE_ENTRIES": "0",
}
"""Settings without which the second policy finds prompt and scores of a question cached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that writes a file or a folder; ``{results}`` stands for the folder of results."""

    name: str
    words: tuple[str, ...]
    seconds: float = 5.0
    settings: Mapping[str, str] = field(default_factory=dict)
    limit: int = 0
    answers: int = 0

    def limited(self, maximum: int) -> "Command":
        """Return the same command: it has no questions of its own."""
        return self

    def environment(self, results: str) -> Mapping[str, str]:
        """Return the settings that the command reads from the environment."""
        return {name: value.format(results=results) for name, value in self.settings.items()}

    def arguments(self, results: str) -> tuple[str, ...]:
        """Return the arguments of ``scaar``."""
        return tuple(each.format(results=results) for each in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """An evaluation of policies, behind gates or not, with settings of the installation.

    With ``thresholds``, those of the gates are read from the files that were fitted before.
    ``artefact`` is the file of a tuned policy that is evaluated too; with ``mismatch``, the model
    is not the one that it was tuned on. ``parameters`` are the data set's. A ``timed`` evaluation
    runs one question at a time and caches nothing between answers.
    """

    name: str
    policies: tuple[str, ...]
    seed: int
    limit: int = WORLD_QUESTIONS
    model: str = LAB_LM
    gates: tuple[str, ...] = ()
    thresholds: bool = False
    values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    grid: int | None = None
    index: str | None = None
    artefact: str = ""
    mismatch: bool = False
    parameters: Mapping[str, float] = field(default_factory=dict)
    timed: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> int:
        """The number of answers, without those of a first pass and of gates."""
        values = sum(len(each) for each in self.values.values()) or self.grid or 1
        policies = len(self.policies) - 1 + bool(self.artefact)
        indexes = (self.index or "").count(",") + 1
        return self.limit * policies * max(values, len(self.gates)) * indexes

    @property
    def seconds(self) -> float:
        """The estimated time; gates sample several texts for each question."""
        return self.answers / (TIMED_ANSWERS_A_SECOND if self.timed else ANSWERS_A_SECOND) + 10

    def limited(self, maximum: int) -> "Evaluation":
        """Return the same evaluation with at most ``maximum`` questions."""
        return replace(self, limit=min(self.limit, maximum))

    def environment(self, results: str) -> Mapping[str, str]:
        """Return the settings that the command reads from the environment."""
        given = {} if self.model == LAB_LM else {MODEL: self.model}
        settings = {**(UNCACHED if self.timed else {}), **self.settings}
        return given | {name: value.format(results=results) for name, value in settings.items()}

    def arguments(self, results: str) -> tuple[str, ...]:
        """Return the arguments of ``scaar``."""
        given = ["eval", "run", *lab_questions(self.seed, self.limit)]
        for name, number in self.parameters.items():
            given += [f"--{name}", f"{number:g}"]
        given += ["--policies", ",".join(self.policies)]
        for name, values in self.values.items():
            given += ["--set", f"{name}={','.join(map(str, values))}"]
        if self.gates:
            given += ["--gate", ",".join(self._gates(Path(results)))]
        given += [] if self.grid is None else ["--grid", str(self.grid)]
        given += [] if self.index is None else ["--index", self.index]
        if self.artefact:
            given += ["--policy-file", self.artefact.format(results=results)]
            given += ["--allow-mismatch"] if self.mismatch else []
        given += ["--concurrency", "1"] if self.timed else [SHARED]
        return (*given, "--out", f"{results}/{self.name}")

    def _gates(self, results: Path) -> Iterator[str]:
        for gate in self.gates:
            if self.thresholds:
                fitted = json.loads(read_whole(results / f"{gate}.json"))
                yield f"{gate}:{fitted['threshold']:.6g}"
            else:
                yield gate


def lab_questions(seed: int, limit: int) -> tuple[str, ...]:
    """Return the options that draw questions of a world of the lab."""
    return ("--dataset", "lab", "--seed", str(seed), "--limit", str(limit))
