"""The query builder's settings, from ``SCAAR_QUERY_BUILDER_*``."""

from typing import Literal

from pydantic_settings import BaseSettings, SettingsConfigDict


class QueryBuilderSettings(BaseSettings):
    """Which engine builds queries."""

    model_config = SettingsConfigDict(env_prefix="SCAAR_QUERY_BUILDER_", frozen=True)

    engine: Literal["local"] = "local"
    """``local``: the formulations of the core; it needs nothing."""
