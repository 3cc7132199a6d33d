"""A tuned policy with a controlled risk on worlds that it was not tuned on."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from record.pool import Pool, System
from record.tuning.comparison import tuned_system
from record.tuning.plan import CATCH
from scaar.core.errors import InvalidRequest
from scaar.evaluator.report.cells import estimated, measure_title, text
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.scoring.detection import JudgedDrafts
from scaar.evaluator.statistics.detection import (
    entity_draws,
    share_of_false,
    share_of_true,
)
from scaar.evaluator.statistics.detection import estimated as share
from scaar.evaluator.statistics.estimate import Estimate, estimate
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.studies.tuning.selection import clustered_mean
from scaar.orchestrator.settings import read_artefact

_BOUND_LEVEL = 0.95
"""The level of the one-sided bound of the misses."""


def risk_table(pool: Pool) -> Table:
    """Return the risk of the policy, what it catches and what that costs."""
    system = tuned_system(pool)
    (at,) = system.settings
    drafts = _drafts(pool, system)
    retrieved, corrected = (x.astype(np.float64) for x in (drafts.retrieved, drafts.corrected))
    samples = entity_draws([each.entity for each in drafts.questions], drafts.wrong)
    rows = (
        ("answers with a wrong draft accepted unchecked", accepted(pool, drafts)),
        ("wrong drafts retrieved for", share(share_of_true, retrieved, drafts.wrong, samples)),
        (
            "wrong drafts whose accepted sentence is right",
            share(share_of_true, corrected, drafts.wrong, samples),
        ),
        ("right drafts retrieved for", share(share_of_false, retrieved, drafts.wrong, samples)),
        (measure_title(pool.measure), estimate(pool.of(at, pool.measure))),
        ("searches per question", estimate(pool.of(at, RETRIEVALS))),
    )
    wrong = int(drafts.wrong.sum())
    return Table(
        "risk",
        f"{system.name} on unseen worlds",
        (Column("what", "what"), Column("value", "value", decimals=3)),
        tuple((text(what), estimated(value)) for what, value in rows),
        note=(
            f"On {len(pool.table.questions)} questions with {wrong} wrong and "
            f"{len(drafts.wrong) - wrong} right drafts. Intervals are over entities."
        ),
    )


def risk_sentences(pool: Pool, artefact: Path) -> Iterator[str]:
    """Yield what was chosen on which questions, and the bound of the misses.

    Raises:
        InvalidRequest: the tuned policy of the file has no controlled risk.
    """
    found = read_artefact(artefact)
    risk = found.risk
    if risk is None or risk.caught is None or risk.false_alarms is None:
        raise InvalidRequest.of("results", f"{artefact} must have a controlled risk")
    yield (
        f"Chosen on {found.development.questions} questions, with {risk.answers} answers of the "
        f"calibration folds: `{found.settings.trigger or found.policy}` at "
        f"{found.settings.theta:.4g}, for a risk of at most {risk.max_risk:g}. There, "
        f"{risk.risk:.1%} of the answers contain a wrong draft that is accepted unchecked, and it "
        f"retrieves for {risk.caught:.1%} of wrong and {risk.false_alarms:.1%} of right drafts."
    )
    drafts = _drafts(pool, tuned_system(pool))
    missed = 1 - drafts.retrieved.astype(np.float64)
    samples = entity_draws([each.entity for each in drafts.questions], drafts.wrong)
    bound = np.quantile([share_of_true(missed[x], drafts.wrong[x]) for x in samples], _BOUND_LEVEL)
    yield (
        f"On unseen worlds it misses {share_of_true(missed, drafts.wrong):.1%} of "
        f"{int(drafts.wrong.sum())} wrong drafts; the one-sided {_BOUND_LEVEL:.0%} upper bound is "
        f"{bound:.1%}. It was tuned to catch {CATCH:.0%}."
    )


def accepted(pool: Pool, drafts: JudgedDrafts) -> Estimate:
    """Return the share of answers in which a wrong draft was accepted without a retrieval."""
    missed = {
        question.id
        for question, wrong, retrieved in zip(
            drafts.questions, drafts.wrong, drafts.retrieved, strict=True
        )
        if wrong and not retrieved
    }
    questions = pool.table.questions
    flags = np.array([each.id in missed for each in questions], dtype=np.float64)
    return clustered_mean(flags, [each.entity for each in questions])


def _drafts(pool: Pool, system: System) -> JudgedDrafts:
    return pool.drafts.drafts(pool.table.settings[system.settings[0]].label)
