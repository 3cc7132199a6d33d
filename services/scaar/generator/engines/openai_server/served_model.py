"""The model that an OpenAI-compatible server serves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openai.types import Model

from scaar.core.errors import BackendUnavailable, NotFound
from scaar.generator.engines.openai_server.dialects import DIALECTS, Dialect, dialect_of
from scaar.generator.engines.served.prompting import UNCHOSEN, Prompting
from scaar.generator.settings import GeneratorSettings

DEFAULT_CONTEXT = 4096
"""Context length, in tokens, if neither the server nor the settings name one."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model of a server.

    ``logprobs`` is true if it was seen to give log-probabilities, ``thinking_off`` if it accepts a
    request not to think, and ``thinks`` if it thinks all the same. ``others`` are the names of the
    server's models if the model is not among them, else None. The context is known if the server or
    the settings name it.
    """

    model: str
    dialect: Dialect
    max_total_tokens: int
    context_known: bool
    others: tuple[str, ...] | None = None
    logprobs: bool = False
    thinking_off: bool = False
    thinks: bool = False
    prompting: Prompting = UNCHOSEN
    system_turn: bool = True
    """False for a chat that was seen to reject a turn of the system."""
    slots: int = 0
    """Number of slots that a request can name; 0 if it can name none."""


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
        others=None if found else names,
    )


def unserved(which: str, names: Sequence[str], server: str, *, detail: str = "") -> NotFound:
    """Return the error of a server that serves other models than the one that is wanted."""
    description = f"{server} serves {which}; set SCAAR_GENERATOR_MODEL to one of: {_listed(names)}"
    return NotFound(description, detail=detail, server=server)


def failed_unlisted(
    error: BackendUnavailable, model: str, *, others: Sequence[str], server: str
) -> BackendUnavailable:
    """Return the error of a server that failed with a model that it does not list.

    Servers that load the model of a request fail on a name that does not exist.
    """
    description = (
        f"{error.message}; it does not list the model {model}: check SCAAR_GENERATOR_MODEL "
        f"(listed: {_listed(others)})"
    )
    return BackendUnavailable(description, detail=error.detail, server=server)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) or "none"


def _dialect(models: Sequence[Model], settings: GeneratorSettings) -> Dialect:
    if settings.dialect != "auto":
        return DIALECTS[settings.dialect]
    if not models:
        return DIALECTS["generic"]
    status = (models[0].model_extra or {}).get("status")
    loading = isinstance(status, Mapping) and status.get("value") in ("loaded", "unloaded")
    return dialect_of(str(models[0].owned_by), reports_loading=loading)


def _context(model: Model) -> int | None:
    """Return the context length in the model's entry or its metadata."""
    extra: Mapping[str, object] = model.model_extra or {}
    meta = extra.get("meta")
    within = meta if isinstance(meta, Mapping) else {}
    lengths = (extra.get("max_model_len"), within.get("n_ctx"), within.get("n_ctx_train"))
    return next((each for each in lengths if isinstance(each, int) and each > 0), None)
