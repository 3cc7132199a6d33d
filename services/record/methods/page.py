"""docs/methods.md: its head and its parts in order."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from record.ceiling import FRONTIERS, ORACLES, costs_table, pooled
from record.cost_model import coefficients_table
from record.methods import transfer
from record.methods.comparison import (
    DEPLOYMENTS,
    gates_table,
    policies_of,
    searches_sentences,
    searches_table,
    times_sentences,
    times_table,
)
from record.methods.plan import COST, FITTED_GATES, TRANSFER, VECTORS
from record.page import Page
from record.pool import TUNED, Pool
from record.sections import Part, PartContent, name_origin, of_pool
from scaar.evaluator.report.analysis import analyse_results
from scaar.evaluator.report.model import Table
from scaar.evaluator.statistics.cost_model import CostModel, fit
from scaar.evaluator.studies.joining.evaluations import read_finished

_HEAD = """\
<!-- Made by make methods from saved predictions; methods/why.md is written by hand. -->
# Methods compared

This page compares every policy and every gate of scaar at matched budgets of searches and at \
matched times, on three worlds that nothing was chosen on.
[Policies](policies.md) has the equation, needs and source of each, and [results](results.md) the \
comparison of the policies that need no part of their own in more detail.

Every number and every sentence between a command and the next heading is computed from saved \
predictions.
`make methods` computes the predictions and writes this page.
Gates, thresholds and the router were fitted on the development world 1061.
Run the commands in the project's folder."""
_KINDS = (
    FRONTIERS,
    TUNED,
    ORACLES,
    VECTORS,
    "counts",
    "filter",
    "search",
    "reflect",
    "gates",
    *FITTED_GATES,
    "gece_proxy",
)
_PREFIXES = tuple(f"{each}-" for each in _KINDS)


@lru_cache(maxsize=1)
def _cost_model(folder: Path) -> CostModel:
    return fit(analyse_results(read_finished(folder)).table.column)


def _costs(pool: Pool) -> Table:
    return costs_table(pool, policies_of(pool), name="methods_costs")


def _times(folders: Sequence[Path]) -> PartContent:
    (timed,) = (each for each in folders if each.name == COST)
    pool = pooled(each for each in folders if each != timed)
    model = _cost_model(timed)
    tables = tuple(times_table(pool, model, each) for each in DEPLOYMENTS)
    return PartContent(tables, (coefficients_table(model),), tuple(times_sentences(pool, model)))


PARTS = (
    Part(
        "At a matched budget of searches",
        _PREFIXES,
        "Each policy at several settings: thetas, or for `model_asks` the number of searches and "
        "for `self_rag` the probability from which it retrieves.",
        of_pool(searches_table, folded=(_costs,), sentences=searches_sentences),
    ),
    Part(
        "At a matched time",
        (COST, *_PREFIXES),
        "The same answers by the time that they take in two deployments.",
        _times,
        commands=False,
    ),
    Part(
        "Gates",
        _PREFIXES,
        "Gates decide for each question whether `single_round` may search; the evaluations are the "
        "same.",
        of_pool(gates_table),
        commands=False,
    ),
    Part(
        "Tuned policies with other models",
        f"{TRANSFER}-",
        "The tuned policy that ships with each model of the lab, used with the others "
        "(`--allow-mismatch`), on the first of the worlds.",
        of_pool(
            *(transfer.scores_table, transfer.differences_table),
            folded=(transfer.searches_table,),
        ),
    ),
)
METHODS = Page(
    "methods",
    _HEAD,
    PARTS,
    Part("Provenance", f"{FRONTIERS}-", "Of the first world.", name_origin, commands=False),
)
