"""The query builder's settings, from ``SCAAR_QUERY_BUILDER_*``."""

from typing import Literal

from scaar.runtime.settings import ServiceSettings, settings_of


class QueryBuilderSettings(ServiceSettings):
    """Which engine builds queries."""

    model_config = settings_of("query_builder")

    engine: Literal["local"] = "local"
    """``local``: the formulations of the core; it needs nothing."""
