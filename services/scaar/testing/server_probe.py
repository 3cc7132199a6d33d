"""The probe of the server that settings name."""

from collections.abc import Mapping

from scaar.generator.factory import open_engine
from scaar.generator.server_probe import probe_server
from scaar.generator.settings import GeneratorSettings


async def probed(settings: GeneratorSettings) -> Mapping[str, str]:
    """Return the capabilities of the server, by name."""
    async with open_engine(settings) as engine:
        return await probe_server(engine)
