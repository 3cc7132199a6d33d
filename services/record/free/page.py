"""docs/free-words.md: its head and its parts in order."""

from record.ceiling import DEPLOYED, FRONTIERS, ORACLES
from record.free.comparison import tuned_sentence, tuned_table
from record.free.plan import BY_ROLE, CONTROLS, FACTORIAL, SWEEP
from record.page import Page
from record.sections import (
    Part,
    compare_factors,
    compare_settings,
    compare_worlds,
    describe_origin,
    detect_wrong_drafts,
    draw_sweep,
    of_pool,
)
from scaar.lab.models import FREE_MODELS

_HEAD = """\
<!-- Made by make free-words from saved predictions; free-words/why.md is written by hand. -->
# Results with free words

SCAAR expects that contributions help where many words of a draft vary freely.
The models of this page, `lab-lm-free` and `lab-lm-free-b`, reason over several sentences as \
`lab-lm` does, and write [six words without facts](sentence-forms.md#free-words-in-answers) after \
each statement.
The published policies, the [tuned policy](policies.md#tuned-policies) of each model and oracles \
are compared on three worlds that nothing was chosen on.
The scorer of `scaar` is `lab-meaning-encoder`, which was trained on whole sentences without \
labels of words.

Every number and every sentence between a command and the next heading is computed from saved \
predictions.
`make free-words` computes the predictions and writes this page.
Run the commands in the project's folder."""


def _of_model(model: str) -> tuple[Part, ...]:
    kinds = tuple(f"{model}/{kind}-" for kind in (FRONTIERS, DEPLOYED, ORACLES))
    return (
        Part(
            f"Policies with {model}",
            kinds,
            "Policies at matched budgets of searches where every word without facts varies freely, "
            "with oracles, which know the facts of the world and cannot be served.",
            compare_worlds,
        ),
        Part(
            f"The tuned policy with {model}",
            kinds,
            "The tuned policy at its own setting, on the same answers.",
            of_pool(tuned_table, sentences=lambda pool: [tuned_sentence(pool)]),
            commands=False,
        ),
        Part(
            f"Detection with {model}",
            kinds,
            "How well each policy separates wrong drafts from right ones, on the same answers.",
            detect_wrong_drafts,
            commands=False,
        ),
    )


PARTS = (
    *(part for model in FREE_MODELS for part in _of_model(model)),
    Part(
        "The rate of free words",
        f"{SWEEP}-",
        "The same questions, with an increasing rate of free words among those without facts.",
        draw_sweep,
        minimum=2,
    ),
    Part(
        "Controls of the contributions",
        CONTROLS,
        "`scaar` with its scorer and with controls that know less, compared with variants of "
        "`flare`.",
        compare_settings,
    ),
    Part(
        "Triggers by queries at a matched budget",
        f"{FACTORIAL}-",
        "Triggers with the same queries, with and without the exclusion of passages that the "
        "answer has already read; added after the results above had been seen.",
        compare_factors,
    ),
    Part(
        "A scorer that knows the roles of words",
        BY_ROLE,
        "The same policies with `lab-cross-encoder`, which was trained on labels of words by their "
        "role: an upper bound, added after the other results had been seen.",
        compare_settings,
    ),
)


FREE_WORDS = Page(
    "free-words",
    _HEAD,
    PARTS,
    Part("Provenance", CONTROLS, "Of the controls of the contributions.", describe_origin),
)
