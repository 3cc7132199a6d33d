"""The time limit of answers of ``scaar up``: a setting of its orchestrator."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from scaar.runtime.config_file import config_in_use

_NAME = "SCAAR_ORCHESTRATOR_ANSWER_TIMEOUT_S"


@contextmanager
def unlimited_answers() -> Iterator[None]:
    """Let answers take as long as they need, unless a setting or a request limits them."""
    config = config_in_use()
    section = config.sections.get("orchestrator", {}) if config is not None else {}
    if os.environ.get(_NAME) or "answer_timeout_s" in section:
        yield
        return
    os.environ[_NAME] = "0"
    try:
        yield
    finally:
        del os.environ[_NAME]
