"""Steps of records: any command of ``scaar``, and an evaluation with its settings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.types import PolicyRequest
from scaar.evaluator.oracles import oracle_parts
from scaar.evaluator.planning.ablations import plan_ablation
from scaar.evaluator.planning.axes import with_indexes
from scaar.evaluator.planning.gates import gates_named, with_gates
from scaar.evaluator.planning.settings import Value, default_policies, plan_settings
from scaar.evaluator.records import Setting
from scaar.evaluator.store.files import read_whole
from scaar.evaluator.studies.grid.candidates import first_pass_settings, with_candidates
from scaar.lab.models import LAB_LM, model_folder
from scaar.orchestrator.settings import read_artefact

SEED = 2_000
"""World of evaluations that name no other one."""
WORLD_QUESTIONS = 300
SHARED = "--cache-generations"
"""The option that caches generations across settings; times of answers then mean nothing."""
ANSWERS_A_SECOND = 50
"""Estimated answers per second on two cores with everything embedded and cached generations."""
TIMED_ANSWERS_A_SECOND = 12
"""The same, one question at a time and without cached generations."""
MODEL = "SCAAR_GENERATOR_MODEL"
UNCACHED = {
    "SCAAR_GENERATOR_PREFIX_CACHE_MB": "0",
    "SCAAR_SCORER_CACHE_ENTRIES": "0",
}
"""Settings without which the second policy finds prompt and scores of a question cached."""


class Step(Protocol):
    """A command that writes a folder or a file of its name, and resumes from what is there."""

    @property
    def name(self) -> str:
        """The name of its output among the results."""
        ...

    @property
    def limit(self) -> int:
        """The number of questions."""
        ...

    @property
    def answers(self) -> int:
        """The number of answers."""
        ...

    @property
    def seconds(self) -> float:
        """The estimated time on two cores with everything embedded."""
        ...

    def arguments(self, results: str) -> tuple[str, ...]:
        """Return the arguments of ``scaar``; ``results`` is the folder of all results."""
        ...

    def environment(self, results: str) -> Mapping[str, str]:
        """Return the settings that the command reads from the environment."""
        ...

    def limited(self, maximum: int) -> "Step":
        """Return the same step with at most ``maximum`` questions."""
        ...


def describe_cost(steps: Sequence[Step]) -> str:
    """Return a line for each step and one for all, with questions, answers and minutes."""
    width = max(len(each.name) for each in steps)
    lines = [
        f"{each.name:<{width}}  {each.limit:>5} questions {each.answers:>7} answers  "
        f"about {each.seconds / 60:.1f} min"
        for each in steps
    ]
    answers, seconds = sum(x.answers for x in steps), sum(x.seconds for x in steps)
    lines.append(f"{answers} answers in all: about {seconds / 60:.1f} min")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that writes a file or a folder.

    In its words, ``{limit}`` stands for the number of questions, each of which has an answer, and
    in these and its settings ``{results}`` for the folder of results.
    """

    name: str
    words: tuple[str, ...]
    start_s: float = 5.0
    question_s: float = 0.0
    """The estimated times of the command: without a question, and of each question."""
    installation: Mapping[str, str] = field(default_factory=dict)
    limit: int = 0

    @property
    def answers(self) -> int:
        return self.limit

    @property
    def seconds(self) -> float:
        return self.start_s + self.question_s * self.limit

    def limited(self, maximum: int) -> "Command":
        return replace(self, limit=min(self.limit, maximum))

    def environment(self, results: str) -> Mapping[str, str]:
        return {name: value.format(results=results) for name, value in self.installation.items()}

    def arguments(self, results: str) -> tuple[str, ...]:
        return tuple(each.format(results=results, limit=self.limit) for each in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One command of ``scaar eval``: a run of policies, or an ablation by its name.

    Without ``policies`` it runs all; ``tuned`` are tuned policies beside them, and ``artefact`` is
    the file of another one; with ``mismatch``, the model is not the one that it was tuned on.
    ``gates`` are those that the policies are evaluated behind too; with ``thresholds``, theirs are
    read from the files that were fitted before. ``values`` are those of settings, ``parameters``
    the data set's, ``installation`` settings of the services by their variable, in which
    ``{results}`` stands for the folder of results. A ``timed`` evaluation runs one question at a
    time and caches no generations.
    """

    name: str
    limit: int = WORLD_QUESTIONS
    policies: tuple[str, ...] = ()
    tuned: tuple[str, ...] = ()
    artefact: str = ""
    mismatch: bool = False
    ablation: str = ""
    values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    gates: tuple[str, ...] = ()
    thresholds: bool = False
    grid: int | None = None
    index: str | None = None
    model: str = LAB_LM
    parameters: Mapping[str, float] = field(default_factory=dict)
    timed: bool = False
    skip_unserved: bool = True
    seed: int = SEED
    installation: Mapping[str, str] = field(default_factory=dict)

    def settings(self) -> tuple[Setting, ...]:
        """Return the settings of every question, without the thetas of a grid."""
        if self.ablation:
            return plan_ablation(self.ablation, self.values)
        with oracle_parts():
            planned = plan_settings(self.policies or default_policies(), self.values)
            tuned = (_tuned_setting(each, self.model) for each in self.tuned)
            gated = with_gates((*planned, *tuned), gates_named(self.gates))
            return with_indexes(gated, self.index.split(",") if self.index else ())

    @property
    def answers(self) -> int:
        """The number of answers, including the first pass of a grid."""
        settings = self.settings()
        count = self.limit * (len(settings) + bool(self.artefact))
        if self.grid is None:
            return count
        with oracle_parts():
            judging = first_pass_settings(settings)
            thetas = tuple(float(place) for place in range(1, self.grid + 1))
            laid = with_candidates(settings, {each.label: thetas for each in judging})
        return self.limit * len(laid) + self.limit * len(judging) // 2

    @property
    def seconds(self) -> float:
        """The estimated time."""
        return self.answers / (TIMED_ANSWERS_A_SECOND if self.timed else ANSWERS_A_SECOND)

    def limited(self, maximum: int) -> "Evaluation":
        """Return the same evaluation with at most ``maximum`` questions."""
        return replace(self, limit=min(self.limit, maximum))

    def environment(self, results: str) -> Mapping[str, str]:
        """Return the model, if it is not the lab's first, and the settings of the services."""
        given = {} if self.model == LAB_LM else {MODEL: self.model}
        own = {name: value.format(results=results) for name, value in self.installation.items()}
        return given | own

    def arguments(self, results: str) -> tuple[str, ...]:
        """Return the arguments of ``scaar``; ``results`` is the folder of all results."""
        verb = ("ablate", self.ablation) if self.ablation else ("run",)
        given: list[str] = ["eval", *verb, "--dataset", "lab", "--seed", str(self.seed)]
        given += ["--limit", str(self.limit)]
        for name, number in self.parameters.items():
            given += [f"--{name}", f"{number:g}"]
        if self.policies:
            given += ["--policies", ",".join((*self.policies, *self.tuned))]
        for name, values in self.values.items():
            given += ["--set", f"{name}={','.join(map(str, values))}"]
        given += ["--gate", ",".join(self._gates(Path(results)))] if self.gates else []
        given += [] if self.grid is None else ["--grid", str(self.grid)]
        given += [] if self.index is None else ["--index", self.index]
        if self.artefact:
            given += ["--policy-file", self.artefact.format(results=results)]
            given += ["--allow-mismatch"] if self.mismatch else []
        given += ["--concurrency", "1"] if self.timed else [SHARED]
        given += ["--skip-unserved"] if self.skip_unserved else []
        return (*given, "--out", f"{results}/{self.name}")

    def _gates(self, results: Path) -> Iterator[str]:
        for gate in self.gates:
            if self.thresholds:
                fitted = json.loads(read_whole(results / f"{gate}.json"))
                yield f"{gate}:{fitted['threshold']:.6g}"
            else:
                yield gate


def _tuned_setting(name: str, model: str) -> Setting:
    """Return the setting of a tuned policy that ships with a model of the lab."""
    artefact = read_artefact(model_folder(model) / "policies" / f"{name}.json")
    return Setting(name, TunedPolicies((artefact,)).resolve(PolicyRequest(name)))
