"""The plan: labels, the gate learned from them, and policies without it and with it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from record.plan import TIMED_ANSWERS_A_SECOND, Step
from scaar.evaluator.planning.gates import Gating, with_gates
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.records import Setting
from scaar.evaluator.studies.longtail.gece import Variant

TAIL_SHARE = 0.2
"""GECE's share of the long tail, also used to draw the questions."""
DEVELOPMENT_SEED, REPORT_SEED = 1_000, 2_000
LABELLED, EVALUATED = 400, 300
POLICIES = ("no_retrieval", "single_round", "ircot", "flare", "dragin", "scaar")
LEARNED_BY = Variant.GAP
"""The labels that the active gate learns from: those that detect the development world's tail
best."""
LEARNED_FROM, LABELS, RUN = f"labels-{DEVELOPMENT_SEED}", f"labels-{REPORT_SEED}", "policies"
GATES = "gate-"
"""The prefix of the names of the gates."""
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

    def limited(self, maximum: int) -> "Labels":
        return replace(self, limit=min(self.limit, maximum))

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

    def limited(self, maximum: int) -> "Proxy":
        return self

    def environment(self, results: str) -> Mapping[str, str]:
        return {}

    def arguments(self, results: str) -> tuple[str, ...]:
        out = f"{results}/{self.name}"
        learned = (f"{results}/{self.labels}", "--by", self.by.value)
        return ("eval", "longtail", "fit", *learned, "--out", out)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedPolicies:
    """Policies without the gate and with the gate, one question at a time.

    Caches are off: each question runs under every setting, and all settings but the first would
    find the prompt and the scores cached.
    """

    name: str = RUN
    limit: int = EVALUATED
    policies: tuple[str, ...] = POLICIES

    @property
    def answers(self) -> int:
        return self.limit * len(self.settings())

    @property
    def seconds(self) -> float:
        return self.answers / TIMED_ANSWERS_A_SECOND

    def settings(self) -> tuple[Setting, ...]:
        """Return the settings of every question."""
        return with_gates(plan_settings(self.policies, {}), (Gating("gece_proxy"),))

    def limited(self, maximum: int) -> "GatedPolicies":
        return replace(self, limit=min(self.limit, maximum))

    def environment(self, results: str) -> Mapping[str, str]:
        return {
            "SCAAR_ORCHESTRATOR_GATE_FILE": f"{results}/{Proxy(by=LEARNED_BY).name}",
            "SCAAR_GENERATOR_PREFIX_CACHE_MB": "0",
            "SCAAR_SCORER_CACHE_ENTRIES": "0",
        }

    def arguments(self, results: str) -> tuple[str, ...]:
        return (
            *("eval", "run", *_questions(REPORT_SEED, self.limit)),
            *("--policies", ",".join(self.policies), "--gate", "gece_proxy"),
            *("--concurrency", "1", "--out", f"{results}/{self.name}"),
        )


def plan() -> tuple[Step, ...]:
    """Return every step, each after the steps that it needs."""
    return (
        Labels(name=LEARNED_FROM, seed=DEVELOPMENT_SEED, limit=LABELLED),
        *(Proxy(by=each) for each in Variant),
        Labels(name=LABELS, seed=REPORT_SEED, limit=EVALUATED),
        GatedPolicies(),
    )


def _questions(seed: int, limit: int) -> tuple[str, ...]:
    return (
        *("--dataset", "lab", "--seed", str(seed), "--limit", str(limit)),
        *("--tail-share", f"{TAIL_SHARE:g}"),
    )
