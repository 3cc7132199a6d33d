"""What a target names: this process, or a running service behind a channel."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.core.calls.breakers import Breakers
from scaar.core.observers import UNOBSERVED_BREAKERS, BreakerObserver
from scaar.runtime.breaker_settings import read_breaker_limits
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.targets import check_target

if TYPE_CHECKING:
    from grpc.aio import Channel

EMBEDDED = "embedded"


def scaar_home() -> Path:
    """Return the data folder: ``SCAAR_HOME``, else the user's data folder."""
    if home := os.environ.get("SCAAR_HOME"):
        return Path(home).expanduser()
    from platformdirs import user_data_path

    return user_data_path("scaar", appauthor=False)


@asynccontextmanager
async def open_service_channel(
    target: str, service: str = "", *, settings: ChannelSettings | None = None
) -> AsyncIterator["Channel"]:
    """Open a channel to a service, with the settings ``SCAAR_CHANNEL_*``."""
    credentials = read_channel_credentials()
    check_target(target)
    async with open_channel(
        target, service=service, settings=settings, credentials=credentials
    ) as channel:
        yield channel


def read_breakers(observer: BreakerObserver = UNOBSERVED_BREAKERS) -> Breakers:
    """Return the breakers of this process, with the settings ``SCAAR_BREAKER_*``."""
    return Breakers(read_breaker_limits(), observer)
