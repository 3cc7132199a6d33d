"""Opens retrievers and their indexes, and builds the index ``lab``."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose.targets import EMBEDDED, open_service_channel, scaar_home
from scaar.core.calls.breakers import NO_BREAKERS, Breakers
from scaar.core.distributions import lab_required
from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound
from scaar.core.ports import IndexKeeper, Retriever
from scaar.core.types import IndexDescription, IndexMode, Passage
from scaar.runtime.channels import connected
from scaar.wire import retriever

if TYPE_CHECKING:
    from scaar.retriever.factory import Engine
    from scaar.retriever.settings import RetrieverSettings

LAB_RERANKER = "lab-reranker"
"""Name of the lab's cross-encoder for query and passage."""
LAB_SEED = 2000
"""Seed of the world of the index ``lab``."""
LAB_INDEX_VERSION = "1edbffaa06e42555372e9147f166c086f6c63d85cfd403c66793786fbbfe6469"
"""Version of the index ``lab`` with the default k1 and b."""
_LAB_INDEX_SETTINGS = (0.9, 0.4)


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
    """Return the folder of a reranker; that of the lab by its name."""
    if given is None or str(given) != LAB_RERANKER:
        return given
    with lab_required(f"the reranker {LAB_RERANKER}"):
        from scaar.lab.models import model_folder
    return model_folder(LAB_RERANKER)


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


async def ensure_lab_index(seed: int = LAB_SEED) -> IndexDescription:
    """Return the index of a lab world. Build it if it is missing or of an earlier world."""
    # Nothing else of the settings is loaded: no encoder, and no index to preload.
    settings = _retriever_settings(EMBEDDED).model_copy(
        update={"encoder": None, "reranker": None, "rerank_url": None, "preload": ()}
    )
    async with open_embedded_indexes(settings) as indexes:
        return await ensure_lab_index_in(indexes, seed)


async def ensure_lab_index_in(indexes: IndexKeeper, seed: int = LAB_SEED) -> IndexDescription:
    """Return the index of a lab world among these indexes, as :func:`ensure_lab_index`."""
    name = lab_index_name(seed)
    try:
        found = await indexes.describe_index(name)
    except NotFound:
        # Another process may have built the same index first.
        with suppress(AlreadyExists):
            return (await indexes.index_passages(name, _lab_passages(seed))).index
        return await indexes.describe_index(name)
    if seed == LAB_SEED and _is_current(found):
        return found
    # An index of the same content is kept.
    replaced = await indexes.index_passages(name, _lab_passages(seed), mode=IndexMode.REPLACE)
    return replaced.index


def _is_current(found: IndexDescription) -> bool:
    """Return whether the index is of the current default world, as far as its version shows."""
    has_other_settings = (found.k1, found.b) != _LAB_INDEX_SETTINGS
    return has_other_settings or found.version == LAB_INDEX_VERSION


async def _lab_passages(seed: int) -> AsyncIterator[Passage]:
    with lab_required("the lab's index"):
        from scaar.lab.passages import passages_of
        from scaar.lab.world import build_world
    for passage in passages_of(build_world(seed)):
        yield Passage(passage.id, passage.title, passage.text)
