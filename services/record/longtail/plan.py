"""The plan: labels, the gate learned from them, and policies without it and with it."""

from record.steps import UNCACHED, Command, Evaluation, Step
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


def plan() -> tuple[Step, ...]:
    """Return every step, each after the steps that it needs."""
    return (
        labels_of(LEARNED_FROM, seed=DEVELOPMENT_SEED, limit=LABELLED),
        *(learned_gate(each) for each in Variant),
        labels_of(LABELS, seed=REPORT_SEED, limit=EVALUATED),
        gated_policies(),
    )


def labels_of(name: str, *, seed: int, limit: int) -> Command:
    """Return the command that labels questions of a world by GECE."""
    words = (
        *("eval", "longtail", "label", "--dataset", "lab", "--seed", str(seed)),
        *("--limit", "{limit}", "--tail-share", f"{TAIL_SHARE:g}"),
        *("--model", _CHECKPOINT, "--out", "{results}/" + name),
    )
    return Command(name=name, words=words, start_s=0, question_s=1 / 8, limit=limit)


def gate_file(by: Variant) -> str:
    """Return the name of a gate learned from labels."""
    return f"{GATES}{by.value.replace('_', '-')}.json"


def learned_gate(by: Variant, labels: str = LEARNED_FROM) -> Command:
    """Return the command that learns a gate from labels."""
    out, learned = gate_file(by), ("{results}/" + labels, "--by", by.value)
    words = ("eval", "longtail", "fit", *learned, "--out", "{results}/" + out)
    return Command(name=out, words=words, start_s=0)


def gated_policies(policies: tuple[str, ...] = POLICIES, limit: int = EVALUATED) -> Evaluation:
    """Return the policies without the gate and with the gate, one question at a time.

    Caches are off: each question runs under every setting, and all settings but the first would
    find the prompt and the scores cached.
    """
    gate = {"SCAAR_ORCHESTRATOR_GATE_FILE": "{results}/" + gate_file(LEARNED_BY)}
    return Evaluation(
        name=RUN,
        policies=policies,
        gates=("gece_proxy",),
        parameters={"tail-share": TAIL_SHARE},
        timed=True,
        skip_unserved=False,
        installation=gate | UNCACHED,
        seed=REPORT_SEED,
        limit=limit,
    )
