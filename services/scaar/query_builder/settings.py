"""The query builder's settings, from ``SCAAR_QUERY_BUILDER_*``."""

from typing import Literal

from scaar.runtime.settings import ServiceSettings, settings_of


class QueryBuilderSettings(ServiceSettings):
    """The engine that builds queries."""

    model_config = settings_of("query_builder")

    engine: Literal["local"] = "local"
    """Engine that builds queries. ``local``, the only one, computes them in the process."""
