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
    """A model of a server.

    ``logprobs`` is true if it was seen to give log-probabilities, ``thinking_off`` if it accepts a
    request not to think, and ``thinks`` if it thinks all the same. ``listed`` are the names of the
    server's models, if the model is not among them. The context is known if the server or the
    settings name it.
    """

    model: str
    dialect: Dialect
    max_total_tokens: int
    context_known: bool
    listed: tuple[str, ...] = ()
    logprobs: bool = False
    thinking_off: bool = False
    thinks: bool = False
    system_turn: bool = True
    """False for a chat that was seen to reject a turn of the system."""


def select_model(models: Sequence[Model], settings: GeneratorSettings, server: str) -> ServedModel:
    """Return the model that the settings name, listed or not, else the only one.

    Raises:
        NotFound: the server lists several models, or none, and the settings name none.
    """
    dialect = _dialect(models, settings)
    # llama.cpp serves its model under any name.
    wanted = None if dialect.name == "llama_cpp" else settings.model
    found = [model for model in models if wanted is None or model.id == wanted]
    names = tuple(sorted(model.id for model in models))
    if not models and settings.model is None:
        text = f"{server} lists no model; set SCAAR_GENERATOR_MODEL to the name of one"
        raise NotFound(text, server=server)
    if len(found) != 1 and settings.model is None:
        raise unserved("several models", names, server)
    model = found[0] if found else None
    context = settings.max_total_tokens or (_context(model) if model is not None else None)
    return ServedModel(
        model=model.id if model is not None else str(settings.model),
        dialect=dialect,
        max_total_tokens=context or DEFAULT_CONTEXT,
        context_known=context is not None,
        listed=() if found else names,
    )


def unserved(which: str, names: Sequence[str], server: str, *, detail: str = "") -> NotFound:
    """Return the error of a server that serves other models than the one that is wanted."""
    listed = ", ".join(names[:20]) or "none"
    description = f"{server} serves {which}; set SCAAR_GENERATOR_MODEL to one of: {listed}"
    return NotFound(description, detail=detail, server=server)


def _dialect(models: Sequence[Model], settings: GeneratorSettings) -> Dialect:
    if settings.dialect != "auto":
        return DIALECTS[settings.dialect]
    return dialect_of(str(models[0].owned_by)) if models else DIALECTS["generic"]


def _context(model: Model) -> int | None:
    """Return the context length in the model's entry or its metadata."""
    extra: Mapping[str, object] = model.model_extra or {}
    meta = extra.get("meta")
    within = meta if isinstance(meta, Mapping) else {}
    lengths = (extra.get("max_model_len"), within.get("n_ctx"), within.get("n_ctx_train"))
    return next((each for each in lengths if isinstance(each, int) and each > 0), None)
