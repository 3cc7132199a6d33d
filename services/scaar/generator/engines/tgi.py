"""Generation by a server of Hugging Face's text-generation-inference (TGI)."""

from contextlib import AbstractAsyncContextManager

from scaar.core.errors import CapabilityMissing
from scaar.core.ports import Generator
from scaar.generator.settings import GeneratorSettings


def open_tgi_generator(settings: GeneratorSettings) -> AbstractAsyncContextManager[Generator]:
    """The generator over the server at the settings' url."""
    raise CapabilityMissing(f"engine {settings.engine} cannot be opened yet")
