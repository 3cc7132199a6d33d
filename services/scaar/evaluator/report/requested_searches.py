"""Searches that the model requested: how many were avoidable, and where one is missing."""

import numpy as np

from scaar.core.policies import PRESETS
from scaar.core.types import Moment
from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.cells import estimated, number, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.statistics.detection import (
    Truths,
    entity_draws,
    share_of_false,
    share_of_true,
)
from scaar.evaluator.statistics.detection import estimated as estimate_of
from scaar.evaluator.statistics.table import FAILED, MISSING, Floats
from scaar.evaluator.statistics.variants import PolicyVariant

_RIGHT = "exact_match"


def requested_searches_table(analysis: Analysis) -> Table | None:
    """Return the table; None without a policy of requests, ``no_retrieval`` and exact match."""
    closed_book = analysis.without_retrieval
    variants = [each for each in analysis.variants if _requests(analysis, each)]
    if closed_book is None or not variants or _RIGHT not in analysis.table.measures:
        return None
    columns = (
        Column("policy", "policy"),
        Column("searched", "searched", decimals=3),
        Column("avoidable", "avoidable", decimals=3),
        Column("missed", "missed", decimals=3),
        Column("questions", "questions", decimals=0),
    )
    return Table(
        "requested_searches",
        "Searches that the model requested",
        columns,
        tuple(_row(analysis, each, closed_book) for each in variants),
        note=(
            "Searched is the share of questions with a search. A search is avoidable if the answer "
            "of no_retrieval to the question is an exact match: the column has the share of such "
            "questions among those with a search. A search is missed if the answer of no_retrieval "
            "is not an exact match and the model did not search: the share among questions without "
            "a search. On the test split at the chosen setting, without failed answers."
        ),
    )


def _requests(analysis: Analysis, variant: PolicyVariant) -> bool:
    policy = analysis.table.settings[variant.candidates[0]].policy
    preset = PRESETS.get(policy.name)
    return preset is not None and Moment.ON_REQUEST in preset.moments


def _row(analysis: Analysis, variant: PolicyVariant, closed_book: int) -> tuple[Cell, ...]:
    test, both = analysis.splits.test, [analysis.chosen(variant), closed_book]
    answered = np.asarray(~(test.column(FAILED)[both] + test.column(MISSING)[both]).any(axis=0))
    right = test.column(_RIGHT)[closed_book][answered]
    searched = test.column("searches")[both[0]][answered] > 0
    entities = [each.entity for each, kept in zip(test.questions, answered, strict=True) if kept]
    samples = entity_draws(entities, searched, seed=analysis.options.seed)
    return (
        text(variant.name),
        estimated(estimate_of(_share, right, searched, samples)),
        estimated(estimate_of(share_of_true, right, searched, samples), missing="none"),
        estimated(estimate_of(share_of_false, 1 - right, searched, samples), missing="none"),
        number(float(answered.sum())),
    )


def _share(_: Floats, searched: Truths) -> float:
    return float(searched.mean()) if len(searched) else float(np.nan)
