"""What the settings of engine ``llama_cpp`` take of this machine, without loading the model."""

from pathlib import Path

from scaar.generator.engines.llama_cpp_server.sizes import (
    available_memory,
    memory_need,
    shown_bytes,
    sizes_of,
)
from scaar.generator.gguf.model import read_model
from scaar.generator.settings import GeneratorSettings


def describe_need(settings: GeneratorSettings) -> str:
    """Return the memory, the context and the threads of the settings' model, for people.

    Raises:
        NotFound: the file cannot be read.
        DataCorrupt: the file is no model that llama.cpp can run.
    """
    model = read_model(Path(settings.model or ""))
    sizes = sizes_of(
        model,
        slots=settings.slots,
        context=settings.max_total_tokens,
        threads=settings.threads,
    )
    free = available_memory()
    known = f", {shown_bytes(free)} are free" if free is not None else ""
    return f"{memory_need(model, sizes)}{known}; {sizes}"
