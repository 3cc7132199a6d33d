"""The records of ``scaar up``: the settings of its orchestrator."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from scaar.compose import records_database
from scaar.core.records import RecordContent
from scaar.records.settings import RecordsSettings
from scaar.runtime.config_file import config_in_use

_DATABASE, _CONTENT = "SCAAR_ORCHESTRATOR_RECORDS_DATABASE", "SCAAR_ORCHESTRATOR_RECORDS_CONTENT"


@contextmanager
def records_settings(content: RecordContent) -> Iterator[None]:
    """Let the orchestrator write to the database that the service of records reads.

    Settings of the environment and of the configuration file take precedence.
    """
    config = config_in_use()
    section = config.sections.get("orchestrator", {}) if config is not None else {}
    prefix = "SCAAR_ORCHESTRATOR_RECORDS_"
    given = [value for name, value in os.environ.items() if name.startswith(prefix) and value]
    if given or any(name.startswith("records_") for name in section):
        yield
        return
    added = {_DATABASE: records_database(RecordsSettings.read()), _CONTENT: content.value}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
