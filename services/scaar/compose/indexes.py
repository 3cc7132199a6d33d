"""Opens retrievers and their indexes, and builds the default indexes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose.targets import EMBEDDED, open_service_channel, scaar_home
from scaar.core.calls.breakers import NO_BREAKERS, Breakers
from scaar.core.defaults import DEFAULTS, DefaultIndex
from scaar.core.distributions import LAB_SEED, lab_required
from scaar.core.errors import AlreadyExists, DataCorrupt, InvalidRequest, NotFound
from scaar.core.ports import IndexKeeper, Retriever
from scaar.core.types import IndexDescription, IndexMode, Passage
from scaar.runtime.channels import connected
from scaar.wire import retriever

if TYPE_CHECKING:
    from scaar.retriever.factory import Engine
    from scaar.retriever.settings import RetrieverSettings

_DEFAULT_BM25 = (0.9, 0.4)
"""k1 and b with which the versions of default indexes are stated."""


@asynccontextmanager
async def open_retriever(
    target: str = EMBEDDED, *, timeout_s: float = 60.0, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator[Retriever]:
    """Open the retriever at a target; embedded, with the indexes of :func:`scaar_home`.

    The URL of an OpenSearch server (http or https) opens an embedded retriever with its indexes.
    A remote retriever, and OpenSearch behind an embedded one, have a breaker.
    """
    if target != EMBEDDED and not _is_url(target):
        async with open_service_channel(target, retriever.SERVICE_NAME) as channel:
            remote = retriever.RemoteRetriever(channel, target, timeout_s=timeout_s)
            yield breakers.retriever(
                remote, target, share_s=timeout_s, connected=connected(channel)
            )
        return
    settings = _retriever_settings(target)
    async with open_embedded_indexes(settings, breakers=breakers) as engine:
        yield with_breaker(engine, settings.engine, breakers)


@asynccontextmanager
async def open_indexes(
    target: str = EMBEDDED, *, encoder: Path | None = None
) -> AsyncIterator[IndexKeeper]:
    """Open the indexes of the retriever at a target, to build, change or search them.

    ``encoder`` is the folder of the encoder of an embedded retriever; the default is that of the
    settings.

    Raises:
        InvalidRequest: an encoder is named for a remote retriever.
    """
    if target == EMBEDDED or _is_url(target):
        async with open_embedded_indexes(_retriever_settings(target, encoder)) as engine:
            yield engine
        return
    if encoder is not None:
        text = f"is the running retriever's own at {target}: SCAAR_RETRIEVER_ENCODER there"
        advice = "leave the option out; --hybrid, --search or --metric build an index of vectors"
        raise InvalidRequest.of("--encoder", f"{text}; {advice}")
    async with open_service_channel(target, retriever.SERVICE_NAME) as channel:
        yield retriever.RemoteRetriever(channel, target)


@asynccontextmanager
async def open_embedded_indexes(
    settings: "RetrieverSettings", *, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator["Engine"]:
    """Open the retriever of the settings in this process; bm25s reads :func:`scaar_home`."""
    from scaar.retriever.factory import open_retriever as open_engine

    folder = settings.indexes or scaar_home() / "indexes"
    given = {"indexes": folder, "reranker": reranker_folder(settings.reranker)}
    async with open_engine(settings.model_copy(update=given), breakers=breakers) as engine:
        yield engine


def _retriever_settings(target: str, encoder: Path | None = None) -> "RetrieverSettings":
    from scaar.retriever.settings import RetrieverSettings

    served = _is_url(target)
    return RetrieverSettings.read(
        engine="opensearch" if served else None,
        opensearch_urls=(target,) if served else None,
        encoder=encoder,
    )


def reranker_folder(given: Path | None) -> Path | None:
    """Return the folder of a reranker; that of a provider of defaults by its name."""
    for provider in DEFAULTS.values() if given is not None else ():
        if found := provider.rerankers.get(str(given)):
            return found
    return given


def _is_url(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def with_breaker(engine: IndexKeeper, name: str, breakers: Breakers) -> Retriever:
    """Return the engine of a retriever, behind a breaker if the engine is a server."""
    return breakers.retriever(engine, name) if name == "opensearch" else engine


def indexes_are_local() -> bool:
    """Return whether the indexes of the embedded retriever are local files."""
    from scaar.retriever.settings import RetrieverSettings

    return RetrieverSettings.read().engine == "bm25s"


def index_place(target: str = EMBEDDED) -> str:
    """Return a text that names where the indexes of the retriever at a target are stored."""
    if target != EMBEDDED:
        return target
    settings = _retriever_settings(target)
    if settings.engine == "opensearch":
        return " ".join((*settings.opensearch_urls, settings.opensearch_prefix))
    return str((settings.indexes or scaar_home() / "indexes").absolute())


def lab_index_name(seed: int) -> str:
    """Return the name of the index of a lab world."""
    return "lab" if seed == LAB_SEED else f"lab-{seed}"


async def ensure_default_indexes() -> None:
    """Build the indexes of the providers of defaults that are missing or of an earlier version."""
    if _default_indexes():
        async with _open_indexes_only() as indexes:
            for index in _default_indexes():
                await _ensure_index_in(indexes, index)


async def ensure_default_indexes_in(indexes: IndexKeeper) -> tuple[IndexDescription, ...]:
    """Return the default indexes among these, as :func:`ensure_default_indexes`; no damaged one."""
    found = []
    for index in _default_indexes():
        with suppress(DataCorrupt):
            found.append(await _ensure_index_in(indexes, index))
    return tuple(found)


def _default_indexes() -> tuple[DefaultIndex, ...]:
    return tuple(provider.index for provider in DEFAULTS.values() if provider.index is not None)


async def ensure_lab_index(seed: int = LAB_SEED) -> IndexDescription:
    """Return the index of a lab world. Build it if it is missing or of an earlier world."""
    async with _open_indexes_only() as indexes:
        return await ensure_lab_index_in(indexes, seed)


async def ensure_lab_index_in(indexes: IndexKeeper, seed: int = LAB_SEED) -> IndexDescription:
    """Return the index of a lab world among these indexes, as :func:`ensure_lab_index`."""
    with lab_required("the lab's index"):
        from scaar.lab.defaults import index_of
    return await _ensure_index_in(indexes, index_of(seed))


@asynccontextmanager
async def _open_indexes_only() -> AsyncIterator["Engine"]:
    """Open the indexes of this machine, without an encoder and without an index to preload."""
    settings = _retriever_settings(EMBEDDED).model_copy(
        update={"encoder": None, "reranker": None, "rerank_url": None, "preload": ()}
    )
    async with open_embedded_indexes(settings) as indexes:
        yield indexes


async def _ensure_index_in(indexes: IndexKeeper, index: DefaultIndex) -> IndexDescription:
    try:
        found = await indexes.describe_index(index.name)
    except NotFound:
        # Another process may have built the same index first.
        with suppress(AlreadyExists):
            return (await indexes.index_passages(index.name, _passages_of(index))).index
        return await indexes.describe_index(index.name)
    if index.version and _is_current(found, index.version):
        return found
    # An index of the same content is kept.
    replaced = await indexes.index_passages(index.name, _passages_of(index), mode=IndexMode.REPLACE)
    return replaced.index


def _is_current(found: IndexDescription, version: str) -> bool:
    """Return whether the index has the current passages, as far as its version shows."""
    return (found.k1, found.b) != _DEFAULT_BM25 or found.version == version


async def _passages_of(index: DefaultIndex) -> AsyncIterator[Passage]:
    for passage in index.passages():
        yield passage
