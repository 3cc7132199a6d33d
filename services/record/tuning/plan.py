"""The plan: tuned and published policies, a controlled risk, a factorial, a learning curve."""

from collections.abc import Iterator

from record.ceiling import DEPLOYED
from record.plan import SHIPPED, SHIPPED_PARTS
from record.pool import TUNED
from record.steps import WORLD_QUESTIONS, Command, Evaluation, Step
from scaar.evaluator.studies.tuning.candidates import Label

MODELS = ("lab-lm-b", "lab-lm-confident")
"""The models with a tuned policy; the results of record have the first one."""
WORLDS = (4_001, 4_002, 4_003)
"""Worlds that nothing was chosen on, by their seeds."""
CAREFUL, CATCH = "careful", 0.95
"""The name of the policy with a controlled risk, and what it is tuned to catch."""
CAREFUL_SEEDS, CAREFUL_WORLDS = (11, 12, 15, 16), (4_007, 4_008, 4_009)
"""Development worlds of that policy, and worlds that nothing was chosen on."""
CHOICES = "choices.json"
"""The report of the tuning of the factorial and of the learning curve."""
BUDGET = 1.25
"""Its searches per question."""
TRIGGERS = ("flare", "exp_raw", "perplexity", "learned")
QUERIES = ("current_sentence", "pfq", "span_masked")
SIZES = (25, 50, 100, 200, 400)
"""Numbers of questions of the learning curve."""


def plan() -> tuple[Step, ...]:
    """Return every step of the record."""
    models = (entry for model in MODELS for entry in _of_model(model))
    return (*models, *_careful(), _choices())


def _of_model(model: str) -> Iterator[Step]:
    """Yield the published policies as the model recommends them, and the tuned one."""
    for seed in WORLDS:
        deployed = f"{model}/{DEPLOYED}-{seed}"
        yield Evaluation(name=deployed, model=model, seed=seed)
        yield Evaluation(
            name=f"{model}/{TUNED}-{seed}",
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
    yield _tuning(f"{CAREFUL}.json", CAREFUL_SEEDS, options)
    for seed in CAREFUL_WORLDS:
        yield Evaluation(
            name=f"{CAREFUL}-{seed}",
            policies=("no_retrieval",),
            artefact=file,
            skip_unserved=False,
            seed=seed,
        )


def _choices() -> Step:
    """Return the tuning of every trigger with every query, with a learning curve."""
    options = (
        *("--budget", f"{BUDGET:g}", "--label", Label.WRONG.value),
        *("--trigger", ",".join(TRIGGERS), "--query", ",".join(QUERIES)),
        *("--learning-curve", ",".join(map(str, SIZES))),
        *("--work", "{results}/answers", "--report", f"{{results}}/{CHOICES}"),
        *("--out", "{results}/chosen.json"),
    )
    return _tuning(CHOICES, WORLDS, options)


def _tuning(name: str, seeds: tuple[int, ...], options: tuple[str, ...]) -> Command:
    """Return a tuning on worlds of the lab, which writes a file of that name."""
    worlds = (text for seed in seeds for text in ("--seed", str(seed)))
    words = ("tune", "--dataset", "lab", *worlds, "--limit", "{limit}", *options)
    # Answers are made for many candidates.
    question_s = 1.5 * len(seeds)
    return Command(name=name, words=words, start_s=0, question_s=question_s, limit=WORLD_QUESTIONS)
