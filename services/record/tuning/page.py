"""docs/tuning.md: its head and its parts in order."""

from collections.abc import Sequence
from pathlib import Path

from record.ceiling import pooled
from record.page import Page
from record.sections import Part, PartContent, name_origin, of_pool
from record.tuning.choices import (
    factorial_tables,
    learning_table,
    read_report,
    spread_sentences,
)
from record.tuning.comparison import comparison_sentences, comparison_table
from record.tuning.plan import CAREFUL, CHOICES, MODELS
from record.tuning.risk import risk_sentences, risk_table

_HEAD = """\
<!-- Made by make tuning from saved predictions. -->
# Results of tuned policies

Each model of the lab ships with a [tuned policy](policies.md#tuned-policies), `tuned-1.4`, which \
was chosen on the worlds 11 and 12.
This page compares those of two models with every published policy on worlds that nothing was \
chosen on; [results](results.md) has `lab-lm`.
For `lab-lm` it shows what a controlled risk holds on unseen worlds, what triggers and queries are \
worth in combination, and how many questions a tuning needs.

Every number and every sentence between a command and the next heading is computed from saved \
predictions.
`make tuning` computes the predictions and writes this page.
Run the commands in the project's folder."""


def _risk(folders: Sequence[Path]) -> PartContent:
    (artefact,) = (each for each in folders if each.suffix)
    pool = pooled(each for each in folders if each != artefact)
    return PartContent((risk_table(pool),), sentences=tuple(risk_sentences(pool, artefact)))


def _factorial(files: Sequence[Path]) -> PartContent:
    report = read_report(files[0])
    return PartContent(factorial_tables(report), sentences=tuple(spread_sentences(report)))


def _learning(files: Sequence[Path]) -> PartContent:
    return PartContent((learning_table(read_report(files[0])),))


PARTS = (
    *(
        Part(
            each,
            f"{each}/",
            f"The published policies and the tuned one with `{each}`.",
            of_pool(comparison_table, sentences=comparison_sentences),
        )
        for each in MODELS
    ),
    Part(
        "A controlled risk",
        CAREFUL,
        "A policy tuned with `--catch` on development worlds, and run once on others.",
        _risk,
    ),
    Part(
        "Triggers by queries and exclusion",
        CHOICES,
        "The cross-validated estimates of a tuning whose candidates are every trigger with every "
        "query, so that triggers are compared at equal queries and queries at equal triggers.",
        _factorial,
    ),
    Part(
        "How many questions a tuning needs",
        CHOICES,
        "The same candidates, tuned on samples of the same questions.",
        _learning,
        commands=False,
    ),
)
TUNING = Page(
    "tuning", _HEAD, PARTS, Part("Provenance", f"{MODELS[0]}/", "Of the first.", name_origin)
)
