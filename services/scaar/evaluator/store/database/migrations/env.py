"""Runs the migrations on the given connection."""

from alembic import context

from scaar.evaluator.store.database.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
context.run_migrations()
