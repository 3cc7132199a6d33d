"""What an OpenAI-compatible server serves: which model, in which dialect, and what it gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openai.types import Model

from scaar.core.errors import NotFound
from scaar.generator.engines.openai_server.dialects import DIALECTS, Dialect, dialect_of
from scaar.generator.settings import GeneratorSettings

DEFAULT_CONTEXT = 4096
"""The tokens of a context where neither the server nor the settings say how many."""


@dataclass(frozen=True, slots=True)
class Served:
    """A model of a server. ``logprobs``: it gives them, as was seen."""

    model: str
    dialect: Dialect
    max_total_tokens: int
    logprobs: bool = False


def served_of(models: Sequence[Model], settings: GeneratorSettings, server: str) -> Served:
    """The model that the settings name, else the only one there is.

    Raises:
        NotFound: it is not there, or there are several and none is named.
    """
    dialect = _dialect(models, settings)
    # llama.cpp serves the model that it has, whatever it is called.
    wanted = None if dialect.name == "llama_cpp" else settings.model
    found = [model for model in models if wanted is None or model.id == wanted]
    if len(found) != 1 and (models or settings.model is None):
        names = ", ".join(sorted(model.id for model in models)[:20]) or "none"
        which = f"no model {wanted}" if wanted else "more than one model, or none"
        told = f"{server} serves {which}; SCAAR_GENERATOR_MODEL names one of: {names}"
        raise NotFound(told, server=server)
    model = found[0] if found else None
    said = _context(model) if model is not None else None
    return Served(
        model=model.id if model is not None else str(settings.model),
        dialect=dialect,
        max_total_tokens=settings.max_total_tokens or said or DEFAULT_CONTEXT,
    )


def _dialect(models: Sequence[Model], settings: GeneratorSettings) -> Dialect:
    if settings.dialect != "auto":
        return DIALECTS[settings.dialect]
    return dialect_of(str(models[0].owned_by)) if models else DIALECTS["openai"]


def _context(model: Model) -> int | None:
    """What the server says of the model's context: in the model's entry, or with its metadata."""
    extra: Mapping[str, object] = model.model_extra or {}
    meta = extra.get("meta")
    within = meta if isinstance(meta, Mapping) else {}
    said = (extra.get("max_model_len"), within.get("n_ctx"), within.get("n_ctx_train"))
    return next((each for each in said if isinstance(each, int) and each > 0), None)
