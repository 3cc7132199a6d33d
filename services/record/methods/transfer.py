"""Tables of tuned policies with models that they were not tuned on."""

from collections.abc import Callable

from record.methods.plan import transfer_kind
from record.plan import SHIPPED
from record.pool import Pool
from scaar.core.errors import InvalidRequest
from scaar.evaluator.report.cells import estimated, measure_title, text
from scaar.evaluator.report.model import Cell, Column, Table
from scaar.evaluator.statistics.estimate import Estimate, difference, estimate
from scaar.evaluator.statistics.selection import RETRIEVALS
from scaar.evaluator.statistics.table import Floats
from scaar.lab.models import LANGUAGE_MODELS


def scores_table(pool: Pool) -> Table:
    """Return the score of every tuned policy with every model."""
    return _matrix(
        lambda model, source: estimate(_value(pool, model, source, pool.measure)),
        name="transfer_scores",
        title=f"{measure_title(pool.measure)} of {SHIPPED}, by the model that it was tuned on",
        note=f"On {len(pool.table.questions)} questions.",
    )


def differences_table(pool: Pool) -> Table:
    """Return the paired differences from the policy that was tuned on the model itself."""
    return _matrix(
        lambda model, source: difference(
            _value(pool, model, source, pool.measure) - _value(pool, model, model, pool.measure)
        ),
        name="transfer_differences",
        title="Difference from the policy that was tuned on the model itself",
        note="Paired 95% intervals, not corrected. The numbers of searches differ.",
        signed=True,
    )


def searches_table(pool: Pool) -> Table:
    """Return the searches of every tuned policy with every model."""
    return _matrix(
        lambda model, source: estimate(_value(pool, model, source, RETRIEVALS)),
        name="transfer_searches",
        title="Searches per question",
        note="Every policy was tuned for 1.4 searches per question with its own model.",
        decimals=2,
    )


def _value(pool: Pool, model: str, source: str, column: str) -> Floats:
    system = pool.system(transfer_kind(model, source), SHIPPED)
    if system is None:
        raise InvalidRequest.of("results", f"must have {SHIPPED} of {source} with {model}")
    return pool.of(system.settings[0], column)


def _matrix(
    estimate_of: Callable[[str, str], Estimate],
    *,
    name: str,
    title: str,
    note: str,
    decimals: int = 3,
    signed: bool = False,
) -> Table:
    columns = (
        Column("source", "tuned on"),
        *(
            Column(each, f"with {each}", decimals=decimals, signed=signed)
            for each in LANGUAGE_MODELS
        ),
    )

    def cell(model: str, source: str) -> Cell:
        if signed and model == source:
            return Cell(None, note="its own")
        return estimated(estimate_of(model, source))

    rows = tuple(
        (text(source), *(cell(model, source) for model in LANGUAGE_MODELS))
        for source in LANGUAGE_MODELS
    )
    return Table(name, title, columns, rows, note=note)
