"""The model that an OpenAI-compatible server serves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openai.types import Model

from scaar.core.errors import NotFound
from scaar.generator.engines.openai_server.dialects import DIALECTS, Dialect, dialect_of
from scaar.generator.settings import GeneratorSettings

DEFAULT_CONTEXT = 4096
"""Context length, in tokens, if neither the server nor the settings name one."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model of a server. ``logprobs`` is true if it was seen to give log-probabilities."""

    model: str
    dialect: Dialect
    max_total_tokens: int
    logprobs: bool = False


def select_model(models: Sequence[Model], settings: GeneratorSettings, server: str) -> ServedModel:
    """Return the model that the settings name, else the only one.

    Raises:
        NotFound: the server does not serve the model, or serves several and none is named.
    """
    dialect = _dialect(models, settings)
    # llama.cpp serves its model under any name.
    wanted = None if dialect.name == "llama_cpp" else settings.model
    found = [model for model in models if wanted is None or model.id == wanted]
    if len(found) != 1 and (models or settings.model is None):
        names = ", ".join(sorted(model.id for model in models)[:20]) or "none"
        which = f"no model {wanted}" if wanted else "no model, or several"
        description = f"{server} serves {which}; set SCAAR_GENERATOR_MODEL to one of: {names}"
        raise NotFound(description, server=server)
    model = found[0] if found else None
    context = _context(model) if model is not None else None
    return ServedModel(
        model=model.id if model is not None else str(settings.model),
        dialect=dialect,
        max_total_tokens=settings.max_total_tokens or context or DEFAULT_CONTEXT,
    )


def _dialect(models: Sequence[Model], settings: GeneratorSettings) -> Dialect:
    if settings.dialect != "auto":
        return DIALECTS[settings.dialect]
    return dialect_of(str(models[0].owned_by)) if models else DIALECTS["openai"]


def _context(model: Model) -> int | None:
    """Return the context length in the model's entry or its metadata."""
    extra: Mapping[str, object] = model.model_extra or {}
    meta = extra.get("meta")
    within = meta if isinstance(meta, Mapping) else {}
    lengths = (extra.get("max_model_len"), within.get("n_ctx"), within.get("n_ctx_train"))
    return next((each for each in lengths if isinstance(each, int) and each > 0), None)
