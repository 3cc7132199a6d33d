"""What is run: labels, the gate that is learned from them, and policies without and behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from record.plan import TIMED_ANSWERS_A_SECOND
from record.step import Step
from scaar.core.types import Gate
from scaar.evaluator.longtail.gece import Variant
from scaar.evaluator.planning.gates import Gating, with_gates
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.records import Setting

TAIL_SHARE = 0.2
"""GECE's share of the long tail, and what the questions are drawn with."""
DEVELOPMENT_SEED, REPORT_SEED = 1_000, 2_000
TAUGHT, ASKED = 400, 300
POLICIES = ("no_retrieval", "single_round", "ircot", "flare", "dragin", "scaar")
LEARNED_BY = Variant.GAP
"""Whose labels the gate learns that policies are asked behind: those that find the development
world's tail best."""
LEARNED_FROM, LABELS, RUN = f"labels-{DEVELOPMENT_SEED}", f"labels-{REPORT_SEED}", "policies"
GATES = "gate-"
"""What the names of the gates begin with."""
_CHECKPOINT = "services/scaar/lab/models/lab-lm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Questions of a world labelled by GECE."""

    name: str
    seed: int
    limit: int

    @property
    def answers(self) -> int:
        return self.limit

    @property
    def seconds(self) -> float:
        return self.limit / 8

    def limited(self, most: int) -> "Labels":
        return replace(self, limit=min(self.limit, most))

    def environment(self, results: str) -> Mapping[str, str]:
        return {}

    def arguments(self, results: str) -> tuple[str, ...]:
        return (
            *("eval", "longtail", "label"),
            *_questions(self.seed, self.limit),
            *("--model", _CHECKPOINT, "--out", f"{results}/{self.name}"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A gate's proxy, learned from labels."""

    by: Variant
    labels: str = LEARNED_FROM
    limit: int = 0
    answers: int = 0
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return f"{GATES}{self.by.value.replace('_', '-')}.json"

    def limited(self, most: int) -> "Proxy":
        return self

    def environment(self, results: str) -> Mapping[str, str]:
        return {}

    def arguments(self, results: str) -> tuple[str, ...]:
        out = f"{results}/{self.name}"
        learned = (f"{results}/{self.labels}", "--by", self.by.value)
        return ("eval", "longtail", "fit", *learned, "--out", out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """Policies without the gate and behind it, one question at a time.

    Nothing is remembered from one answer to the next: each question is asked under every setting,
    and all but the first would find it read and scored.
    """

    name: str = RUN
    limit: int = ASKED
    policies: tuple[str, ...] = POLICIES

    @property
    def answers(self) -> int:
        return self.limit * len(self.settings())

    @property
    def seconds(self) -> float:
        return self.answers / TIMED_ANSWERS_A_SECOND

    def settings(self) -> tuple[Setting, ...]:
        """What every question is asked under."""
        return with_gates(plan_settings(self.policies, {}), (Gating(Gate.GECE_PROXY),))

    def limited(self, most: int) -> "Gated":
        return replace(self, limit=min(self.limit, most))

    def environment(self, results: str) -> Mapping[str, str]:
        return {
            "SCAAR_ORCHESTRATOR_GATE_FILE": f"{results}/{Proxy(by=LEARNED_BY).name}",
            "SCAAR_GENERATOR_PREFIX_CACHE_MB": "0",
            "SCAAR_SCORER_CACHE_ENTRIES": "0",
        }

    def arguments(self, results: str) -> tuple[str, ...]:
        return (
            *("eval", "run", *_questions(REPORT_SEED, self.limit)),
            *("--policies", ",".join(self.policies), "--gate", Gate.GECE_PROXY.value),
            *("--concurrency", "1", "--out", f"{results}/{self.name}"),
        )


def plan() -> tuple[Step, ...]:
    """Every step, each after what it needs."""
    return (
        Labels(name=LEARNED_FROM, seed=DEVELOPMENT_SEED, limit=TAUGHT),
        *(Proxy(by=each) for each in Variant),
        Labels(name=LABELS, seed=REPORT_SEED, limit=ASKED),
        Gated(),
    )


def _questions(seed: int, limit: int) -> tuple[str, ...]:
    return (
        *("--dataset", "lab", "--seed", str(seed), "--limit", str(limit)),
        *("--tail-share", f"{TAIL_SHARE:g}"),
    )
