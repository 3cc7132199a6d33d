"""The plan of the record: steps, each a command of ``scaar`` with an output of its own."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.types import PolicyRequest
from scaar.evaluator.oracles import ORACLE, ORACLE_ERROR, PLANNED, oracle_parts, plan_of
from scaar.evaluator.planning.ablations import plan_ablation
from scaar.evaluator.planning.settings import Value, default_policies, plan_settings
from scaar.evaluator.records import Setting
from scaar.evaluator.studies.grid.candidates import first_pass_settings, with_candidates
from scaar.lab.models import LAB_LM, LANGUAGE_MODELS, model_folder
from scaar.orchestrator.settings import read_artefact


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


QUESTIONS = 2_000
"""Questions of the comparison of policies; other evaluations have fewer."""
SHARED = "--cache-generations"
"""The option that caches generations across settings; times of answers then mean nothing."""
STYLES = (0.0, 0.25, 0.5, 0.75, 1.0)
SEED = 2_000
WORLDS = (2_101, 2_102, 2_103)
"""Worlds that no setting was chosen on, for the comparisons with oracles."""
WORLD_QUESTIONS = 300
SHIPPED = "tuned-1.4"
"""The tuned policy that ships with the lab's model."""
SHIPPED_PARTS: Mapping[str, tuple[Value, ...]] = {
    "query": ("current_sentence",),
    "top_k": (1,),
    "mask_below": (0.8,),
}
"""Its settings beside its trigger, perplexity, and its theta."""
ORACLE_POLICIES = (ORACLE_ERROR, PLANNED)
FACTORIAL_QUERIES = ("current_sentence", "pfq")
PLANNED_SENTENCES = 4
"""Number of sentences of which every set is planned; no answer states more facts."""
ANSWERS_A_SECOND = 50
"""Estimated answers per second on two cores with everything embedded and cached generations."""
TIMED_ANSWERS_A_SECOND = 12
"""The same, one question at a time and without cached generations."""
MODEL = "SCAAR_GENERATOR_MODEL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One command of ``scaar eval``: a run of policies, or an ablation by its name.

    Without ``policies`` it runs all; ``tuned`` are tuned policies beside them. ``values`` are those
    of settings, ``parameters`` the data set's, ``installation`` settings of the services by their
    variable. A ``timed`` evaluation runs one question at a time and caches no generations.
    """

    name: str
    limit: int
    policies: tuple[str, ...] = ()
    tuned: tuple[str, ...] = ()
    ablation: str = ""
    values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    grid: int | None = None
    model: str = LAB_LM
    parameters: Mapping[str, float] = field(default_factory=dict)
    timed: bool = False
    seed: int = SEED
    installation: Mapping[str, str] = field(default_factory=dict)

    def settings(self) -> tuple[Setting, ...]:
        """Return the settings of every question, without the thetas of a grid."""
        if self.ablation:
            return plan_ablation(self.ablation, self.values)
        with oracle_parts():
            policies = self.policies or default_policies()
            tuned = (_tuned_setting(each, self.model) for each in self.tuned)
            return (*plan_settings(policies, self.values), *tuned)

    @property
    def answers(self) -> int:
        """The number of answers, including the first pass of a grid."""
        settings = self.settings()
        if self.grid is None:
            return self.limit * len(settings)
        with oracle_parts():
            judging = first_pass_settings(settings)
            thetas = tuple(float(place) for place in range(1, self.grid + 1))
            laid = with_candidates(settings, {each.label: thetas for each in judging})
        return self.limit * len(laid) + self.limit * len(judging) // 2

    @property
    def seconds(self) -> float:
        """The estimated time."""
        return self.answers / (TIMED_ANSWERS_A_SECOND if self.timed else ANSWERS_A_SECOND)

    def limited(self, maximum: int) -> "Entry":
        """Return the same evaluation with at most ``maximum`` questions."""
        return replace(self, limit=min(self.limit, maximum))

    def environment(self, results: str) -> Mapping[str, str]:
        """Return the model, if it is not the lab's first, and the settings of the services."""
        return {**({} if self.model == LAB_LM else {MODEL: self.model}), **self.installation}

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
        if self.grid is not None:
            given += ["--grid", str(self.grid)]
        given += ["--concurrency", "1"] if self.timed else [SHARED]
        return (*given, "--skip-unserved", "--out", f"{results}/{self.name}")


def plan() -> tuple[Entry, ...]:
    """Return every evaluation of record."""
    return (
        Entry(name="policies", limit=QUESTIONS, grid=6),
        Entry(name="cost", limit=100, timed=True),
        *(
            Entry(name=f"weighting-{each}", ablation="weighting", limit=150, grid=2, model=each)
            for each in LANGUAGE_MODELS
        ),
        Entry(name="alpha", ablation="alpha", limit=200),
        Entry(name="top-k", ablation="top-k", limit=120),
        Entry(name="granularity", ablation="granularity", limit=200),
        Entry(name="scorer", ablation="scorer", limit=150, grid=2),
        *(
            Entry(name=f"models-{each}", policies=_COMPARED, limit=150, grid=2, model=each)
            for each in LANGUAGE_MODELS
        ),
        *(
            Entry(
                name=f"style-{style:g}",
                policies=("no_retrieval", "single_round", "flare", "scaar"),
                limit=100,
                grid=2,
                parameters={"style": style},
            )
            for style in STYLES
        ),
        *(entry for seed in WORLDS for entry in entries_of_world(seed)),
    )


def entries_of_world(seed: int) -> Iterator[Entry]:
    """Yield the evaluations of a world: frontiers, policies as deployed, oracles, a factorial."""
    yield Entry(name=f"frontiers-{seed}", limit=WORLD_QUESTIONS, grid=6, seed=seed)
    yield Entry(name=f"deployed-{seed}", limit=WORLD_QUESTIONS, seed=seed)
    yield Entry(
        name=f"tuned-{seed}",
        limit=WORLD_QUESTIONS,
        policies=("perplexity",),
        tuned=(SHIPPED,),
        values=SHIPPED_PARTS,
        grid=6,
        seed=seed,
    )
    yield Entry(
        name=f"oracles-{seed}",
        limit=WORLD_QUESTIONS,
        policies=ORACLE_POLICIES,
        values=oracle_values(),
        seed=seed,
    )
    yield Entry(
        name=f"factorial-{seed}",
        limit=WORLD_QUESTIONS,
        policies=("flare", "scaar", "perplexity"),
        values={"query": FACTORIAL_QUERIES, "exclude_seen": ("none", "seen")},
        grid=4,
        seed=seed,
    )


def _tuned_setting(name: str, model: str) -> Setting:
    """Return the setting of a tuned policy that ships with a model of the lab."""
    artefact = read_artefact(model_folder(model) / "policies" / f"{name}.json")
    return Setting(name, TunedPolicies((artefact,)).resolve(PolicyRequest(name)))


def oracle_values() -> Mapping[str, tuple[Value, ...]]:
    """Return the settings of the oracles: each query, and every set of planned retrievals."""
    plans = (
        set(each)
        for size in range(PLANNED_SENTENCES + 1)
        for each in itertools.combinations(range(PLANNED_SENTENCES), size)
    )
    return {
        "query": ("current_sentence", ORACLE),
        "theta": tuple(sorted(int(plan_of(each)) for each in plans)),
    }


_COMPARED = ("no_retrieval", "single_round", "ircot", "flare", "dragin", "scaar")
"""The policies of the comparison of models."""
