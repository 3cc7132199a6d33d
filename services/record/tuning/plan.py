"""The plan: tuned and published policies, a controlled risk, a factorial, a learning curve."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from record.ceiling import DEPLOYED
from record.plan import SHIPPED, SHIPPED_PARTS, WORLD_QUESTIONS, Entry, Step
from record.pool import TUNED
from record.steps import Evaluation
from scaar.evaluator.studies.tuning.candidates import Label

MODELS = ("lab-lm-b", "lab-lm-confident")
"""The models with a tuned policy; the results of record have the first one."""
WORLDS = (4_001, 4_002, 4_003)
"""Worlds that nothing was chosen on, by their seeds."""
CAREFUL, CATCH = "careful", 0.95
"""The name of the policy with a controlled risk, and what it is tuned to catch."""
CAREFUL_SEEDS, CAREFUL_WORLDS = (11, 12, 15, 16), (4_007, 4_008, 4_009)
"""Development worlds of that policy, and worlds that nothing was chosen on."""
FACTORIAL, LEARNING = "factorial.json", "learning-curve.json"
"""The reports of the tunings of the factorial and of the learning curve."""
BUDGET = 1.25
"""Searches per question of both."""
TRIGGERS = ("flare", "exp_raw", "perplexity", "learned")
QUERIES = ("current_sentence", "pfq", "span_masked")
SIZES = (25, 50, 100, 200, 400)
"""Numbers of questions of the learning curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """A tuning of policies on worlds of the lab; ``name`` is the file that it is run for."""

    name: str
    seeds: tuple[int, ...]
    options: tuple[str, ...]
    limit: int = WORLD_QUESTIONS
    answers: int = 0

    @property
    def seconds(self) -> float:
        """The estimated time: answers are made for many candidates."""
        return len(self.seeds) * self.limit * 1.5

    def limited(self, maximum: int) -> "Tuning":
        """Return the same tuning with at most ``maximum`` questions of each world."""
        return replace(self, limit=min(self.limit, maximum))

    def environment(self, results: str) -> Mapping[str, str]:
        """Return the settings that the command reads from the environment: none."""
        return {}

    def arguments(self, results: str) -> tuple[str, ...]:
        """Return the arguments of ``scaar``."""
        seeds = (text for seed in self.seeds for text in ("--seed", str(seed)))
        given = (each.format(results=results) for each in self.options)
        return ("tune", "--dataset", "lab", *seeds, "--limit", str(self.limit), *given)


def plan() -> tuple[Step, ...]:
    """Return every step of the record."""
    models = (entry for model in MODELS for entry in _of_model(model))
    return (*models, *_careful(), *_choices())


def _of_model(model: str) -> Iterator[Step]:
    """Yield the published policies as the model recommends them, and the tuned one."""
    for seed in WORLDS:
        deployed = f"{model}/{DEPLOYED}-{seed}"
        yield Entry(name=deployed, limit=WORLD_QUESTIONS, model=model, seed=seed)
        yield Entry(
            name=f"{model}/{TUNED}-{seed}",
            limit=WORLD_QUESTIONS,
            policies=("perplexity",),
            tuned=(SHIPPED,),
            values=SHIPPED_PARTS,
            grid=4,
            model=model,
            seed=seed,
        )


def _careful() -> Iterator[Step]:
    """Yield the tuning of a controlled risk, and the policy on every world."""
    file = f"{{results}}/{CAREFUL}.json"
    options = ("--catch", f"{CATCH:g}", "--label", Label.WRONG.value, "--out", file)
    yield Tuning(name=f"{CAREFUL}.json", seeds=CAREFUL_SEEDS, options=options)
    for seed in CAREFUL_WORLDS:
        yield Evaluation(
            name=f"{CAREFUL}-{seed}", policies=("no_retrieval",), artefact=file, seed=seed
        )


def _choices() -> Iterator[Step]:
    """Yield the tunings of the factorial and of the learning curve, with the same answers."""
    parts = ("--trigger", ",".join(TRIGGERS), "--query", ",".join(QUERIES))
    sizes = ("--learning-curve", ",".join(map(str, SIZES)))
    for name, chosen in ((FACTORIAL, parts), (LEARNING, sizes)):
        files = ("--report", f"{{results}}/{name}", "--out", f"{{results}}/chosen-{name}")
        shared = ("--work", "{results}/answers", "--label", Label.WRONG.value)
        options = ("--budget", f"{BUDGET:g}", *chosen, *shared, *files)
        yield Tuning(name=name, seeds=WORLDS, options=options)
