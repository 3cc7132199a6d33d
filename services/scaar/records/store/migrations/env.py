"""Runs the migrations on the given connection."""

from alembic import context

from scaar.records.store.schema import SCHEMA
from scaar.records.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    version_table=SCHEMA.version_table,
)
context.run_migrations()
