"""Moments: the policies of an evaluation have a list of moments instead of one occasion."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_MOMENTS: Mapping[str, list[str]] = {
    "never": [],
    "once": ["before_answer"],
    "every_sentence": ["before_sentence"],
    "every_window": ["before_window"],
    "uncertain_draft": ["uncertain_draft"],
}
_EVALUATIONS = sa.table("evaluations", sa.column("number"), sa.column("evaluation"))


def upgrade() -> None:
    """Replace ``when`` by ``moments``."""
    _rewrite("when", "moments", lambda when: _MOMENTS[when])


def downgrade() -> None:
    """Replace ``moments`` by ``when``."""
    occasions = {tuple(moments): when for when, moments in _MOMENTS.items()}
    _rewrite("moments", "when", lambda moments: occasions[tuple(moments)])


def _rewrite(old: str, new: str, convert: Callable[[Any], Any]) -> None:
    connection = op.get_bind()
    started = sa.select(_EVALUATIONS).where(_EVALUATIONS.c.evaluation.is_not(None))
    for number, text in connection.execute(started).all():
        evaluation = json.loads(text)
        for provenance in evaluation.get("provenance", {}).values():
            policy = provenance["policy"]
            provenance["policy"] = {
                **{new if name == old else name: value for name, value in policy.items()},
                new: convert(policy[old]),
            }
        rewritten = json.dumps(evaluation, ensure_ascii=False, separators=(",", ":"))
        connection.execute(
            _EVALUATIONS.update()
            .where(_EVALUATIONS.c.number == number)
            .values(evaluation=rewritten)
        )
