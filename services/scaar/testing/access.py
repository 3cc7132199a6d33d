"""An orchestrator with an identities file over a socket, and indexes of several tenants."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from scaar.compose import with_access_rules, with_filter_limits
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import Answerer, Catalog, DraftJudge, IndexKeeper
from scaar.core.types import MetadataField, Passage
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.server import RunningServer, open_server
from scaar.wire.orchestrator import OrchestratorServicer
from scaar.wire.status import status_of

TOKENS = {"token-of-acme": "acme", "token-of-globex": "globex", "token-of-all": "operations"}
"""The tenants of bearer tokens. No rule names ``globex``."""
RULES: Mapping[str, object] = {
    "acme": {"indexes": {"acme-docs": {}, "shared": {"tenant": "acme", "lang": ["en", "de"]}}},
    "operations": {"indexes": {"*": {}}},
}
"""The section ``tenants`` of an identities file."""
FORBIDDEN, ABSENT = "secret-docs", "absent-docs"
"""An index that ``acme`` may not read, and one that does not exist; the names are equally long."""


def _passage(name: str, tenant: str, *langs: str) -> Passage:
    fields = (MetadataField("tenant", (tenant,)), MetadataField("lang", langs))
    return Passage(name, "Leave", f"Parental leave at {tenant} is paid.", fields)


INDEXES: Mapping[str, Sequence[Passage]] = {
    "acme-docs": (_passage("own", "acme", "fr"),),
    "shared": (
        _passage("acme-en", "acme", "en"),
        _passage("acme-de-fr", "acme", "de", "fr"),
        _passage("acme-fr", "acme", "fr"),
        _passage("globex-en", "globex", "en"),
    ),
    FORBIDDEN: (_passage("hidden", "globex", "en"),),
}
"""The passages of each index."""


def write_identities(
    path: Path,
    tokens: Mapping[str, str] = TOKENS,
    tenants: Mapping[str, object] | None = RULES,
) -> Path:
    """Write an identities file: tenants by token, and the access of tenants, None for no rules."""
    digests = {sha256(token.encode()).hexdigest(): tenant for token, tenant in tokens.items()}
    rules = {} if tenants is None else {"tenants": tenants}
    path.write_text(json.dumps({"tokens": digests, **rules}))
    return path


async def build_indexes(
    keeper: IndexKeeper, indexes: Mapping[str, Sequence[Passage]] = INDEXES
) -> None:
    """Build the indexes, which declare the fields ``tenant`` and ``lang``."""

    async def stream(passages: Sequence[Passage]) -> AsyncIterator[Passage]:
        for each in passages:
            yield each

    for name, passages in indexes.items():
        await keeper.index_passages(name, stream(passages), metadata_fields=("tenant", "lang"))


@dataclass(frozen=True, slots=True)
class PermittedParts:
    """The parts of an orchestrator with access rules, and its settings."""

    answerer: Answerer
    catalog: Catalog
    judge: DraftJudge
    settings: OrchestratorSettings


def permitted_parts(ports: Ports, identities: Path | None) -> PermittedParts:
    """Return what ``scaar serve orchestrator`` serves over the ports with an identities file.

    A test of another door passes them to the orchestrator behind the door, with the settings.
    """
    settings = OrchestratorSettings(identities_file=identities, stop_grace_s=0.0)
    limited = with_access_rules(ports, settings)
    loop = AdaptiveLoop(limited, default_index="lab")
    answerer = with_filter_limits(loop, settings)
    return PermittedParts(
        answerer, PortsCatalog(limited, version="1", default_index="lab"), loop, settings
    )


@asynccontextmanager
async def open_permitted_orchestrator(
    ports: Ports, identities: Path | None
) -> AsyncIterator[RunningServer]:
    """Serve an orchestrator with access rules over the ports."""
    parts = permitted_parts(ports, identities)
    servicer = OrchestratorServicer(parts.answerer, parts.catalog, judge=parts.judge)
    async with open_server(
        [servicer], "127.0.0.1:0", parts.settings, status_of=status_of
    ) as server:
        yield server
