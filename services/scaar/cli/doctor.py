"""``scaar doctor``: whether everything that an answer needs is there and whole."""

import asyncio
import platform
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from scaar.cli.services import BACK_ENDS, ServiceName, full_name
from scaar.compose import EMBEDDED, open_generator, open_retriever, open_scorer, scaar_home
from scaar.core.errors import BackendUnavailable, InvalidRequest, ScaarError
from scaar.core.types import (
    ContinuationKind,
    IndexDescription,
    LogprobKind,
    ModelDescription,
    ScorerDescription,
)
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.retriever.index_files import IndexFiles
from scaar.retriever.settings import RetrieverSettings
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.health import wait_until_serving

PACKAGES = ("scaar", "grpcio", "onnxruntime", "bm25s")
SERVING_TIMEOUT_S, ALIVE_TIMEOUT_S = 3.0, 1.0
_GOOD, _WRONG = "✓", "✗"


def doctor(
    target: Annotated[
        str, typer.Option(help="Also look at a running orchestrator, dns:///host:port.")
    ] = EMBEDDED,
) -> None:
    """Check versions, models, indexes and services; say what is wrong and what to do."""
    checks = _Checks()
    asyncio.run(_examine(checks, target))
    if checks.wrong:
        raise typer.Exit(1)


class _Checks:
    """A line a check, marked."""

    def __init__(self) -> None:
        self.wrong = 0

    def good(self, what: str, found: str) -> None:
        print(f"{_GOOD} {what}: {found}", flush=True)

    def bad(self, what: str, found: str, advice: str) -> None:
        self.wrong += 1
        print(f"{_WRONG} {what}: {' '.join(found.split())}\n    {advice}", flush=True)

    async def run(self, what: str, check: Callable[[], Awaitable[str]], advice: str) -> None:
        """One check: what it finds, or what is wrong and the advice."""
        try:
            self.good(what, await check())
        except InvalidRequest as error:
            self.bad(what, str(error), "Correct or unset this setting.")
        except ScaarError as error:
            self.bad(what, str(error), advice)


async def _examine(checks: _Checks, target: str) -> None:
    checks.good("python", platform.python_version())
    for package in PACKAGES:
        try:
            checks.good(package, version(package))
        except PackageNotFoundError:
            checks.bad(package, "is not installed", "Install scaar with its extras: scaar[all].")
    checks.good("data home", str(scaar_home()))
    if target != EMBEDDED:
        await _check_service(checks, ServiceName.ORCHESTRATOR, target)
    try:
        settings = OrchestratorSettings.read()
    except InvalidRequest as error:
        checks.bad("settings", str(error), "Correct or unset this setting.")
        settings = OrchestratorSettings.model_construct()
    targets: dict[ServiceName, str] = {name: _target_of(settings, name) for name in BACK_ENDS}
    for name, where in targets.items():
        if where != EMBEDDED:
            await _check_service(checks, name, where)
    await _check_models(checks, targets)
    if targets[ServiceName.RETRIEVER] == EMBEDDED:
        await _check_indexes(checks)


def _target_of(settings: OrchestratorSettings, name: ServiceName) -> str:
    return str(getattr(settings, f"{name.replace('-', '_')}_target"))


async def _check_service(checks: _Checks, name: ServiceName, target: str) -> None:
    async def serving() -> str:
        credentials = read_channel_credentials()
        wait = partial(wait_until_serving, target, credentials=credentials)
        try:
            await wait(full_name(name), timeout_s=SERVING_TIMEOUT_S)
        except BackendUnavailable as error:
            try:
                await wait(timeout_s=ALIVE_TIMEOUT_S)
            except BackendUnavailable:
                raise error from None
            text = f"{target} runs, and {full_name(name)} is not ready there"
            raise BackendUnavailable(text, target=target) from error
        return f"{target} is SERVING"

    start = f"Start it there (scaar serve {name}), or correct the target."
    needs = " It waits for the services that it cannot do without: generator and query-builder."
    advice = start + needs * (name is ServiceName.ORCHESTRATOR)
    await checks.run(name, serving, advice)


async def _check_models(checks: _Checks, targets: dict[ServiceName, str]) -> None:
    async def generator() -> str:
        async with open_generator() as opened:
            return _told(await opened.describe_model())

    async def scorer() -> str:
        async with open_scorer() as opened:
            return _told(await opened.describe_model())

    for name, check in ((ServiceName.GENERATOR, generator), (ServiceName.SCORER, scorer)):
        if targets[name] == EMBEDDED:
            setting = f"SCAAR_{name.upper()}"
            advice = (
                f"Put the file back, or set {setting}_MODEL to another model's folder or unset it; "
                f"where {setting}_ENGINE is a server's, start that or correct its address."
            )
            await checks.run(f"{name} model", check, advice)


def _told(model: ModelDescription | ScorerDescription) -> str:
    told = f"{model.model} on {model.engine}, revision {model.revision or 'unknown'}"
    if isinstance(model, ModelDescription):
        if model.continuation is ContinuationKind.RESTATED:
            told += ", goes on from restated text"
        if model.logprob_kind is LogprobKind.PROCESSED:
            told += ", processed log-probabilities"
    return told


async def _check_indexes(checks: _Checks) -> None:
    try:
        if RetrieverSettings.read().engine != "bm25s":
            await _check_server_indexes(checks)
            return
        files = IndexFiles(RetrieverSettings.read().indexes or scaar_home() / "indexes")
        names = files.names()
    except InvalidRequest as error:
        checks.bad("indexes", str(error), "Correct or unset this setting.")
        return
    except (ScaarError, OSError) as error:
        checks.bad("indexes", str(error), "Let this user read the folder, or set SCAAR_HOME.")
        return
    if not names:
        checks.good("indexes", "none yet; the first question builds the lab's")
    for name in names:
        advice = f"scaar index drop {name}, and build it again (lab: the next question does)."
        await checks.run(f"index {name}", partial(asyncio.to_thread, _verify, files, name), advice)


async def _check_server_indexes(checks: _Checks) -> None:
    found: list[IndexDescription] = []

    async def whole() -> str:
        async with open_retriever() as retriever:
            found.extend(await retriever.list_indexes())
        told = (f"{each.name} ({each.passages:,} passages)" for each in found if not each.damage)
        return ", ".join(told) or "none yet"

    await checks.run("indexes", whole, "Start the server, or correct its address.")
    for each in found:
        if each.damage:
            advice = f"scaar index verify {each.name} looks closer; build it again with --replace."
            checks.bad(f"index {each.name}", each.damage, advice)


def _verify(files: IndexFiles, name: str) -> str:
    try:
        manifest = files.read_manifest(name)
        # Here and not above: no other command needs the engine's libraries.
        from scaar.retriever.loaded_index import open_index

        open_index(files.root / name / manifest.folder, manifest, checksums=True)
    except OSError as error:
        raise BackendUnavailable(f"{name} cannot be read: {error}") from error
    return f"{manifest.passages:,} passages, version {manifest.version[:12]}"
