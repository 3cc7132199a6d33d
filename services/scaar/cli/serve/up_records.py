"""The records of ``scaar up``: the settings of its orchestrator."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from scaar.compose import default_records_database, records_database
from scaar.core.records import RecordContent
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.records.settings import RecordsSettings
from scaar.runtime.config_file import config_in_use

_DATABASE, _CONTENT = "SCAAR_ORCHESTRATOR_RECORDS_DATABASE", "SCAAR_ORCHESTRATOR_RECORDS_CONTENT"


@contextmanager
def records_settings(content: RecordContent) -> Iterator[None]:
    """Let the orchestrator write to the database that the service of records reads.

    A database or a content of the environment or of the configuration file takes precedence; with
    a database, the content is that of its settings.
    """
    config = config_in_use()
    section = config.sections.get("orchestrator", {}) if config is not None else {}
    added = {_DATABASE: records_database(RecordsSettings.read()), _CONTENT: content.value}
    if any(
        os.environ.get(f"{_DATABASE}{suffix}") or f"records_database{suffix}".lower() in section
        for suffix in ("", "_FILE")
    ):
        added = {}
    elif os.environ.get(_CONTENT) or "records_content" in section:
        del added[_CONTENT]
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def records_notice(settings: OrchestratorSettings) -> str:
    """Return a line on the texts that the orchestrator keeps of answers; empty if it keeps none."""
    url = settings.records_database
    if url is None and settings.records_database_file is None:
        return ""
    is_ours = url is not None and url.get_secret_value() == default_records_database()
    place = f" in {default_records_database().removeprefix('sqlite:///')}" if is_ours else ""
    match settings.records_content:
        case RecordContent.FULL:
            kept = "questions and answers are kept with their texts"
            return f"Records: {kept}{place}; --records none keeps numbers only"
        case RecordContent.HASHED:
            return f"Records: answers are kept without texts, with digests of them{place}"
        case RecordContent.NONE:
            return ""
        case _:
            assert_never(settings.records_content)
