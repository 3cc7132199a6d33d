"""``scaar doctor``: check the installation, its models, indexes and services."""

import asyncio
import os
import platform
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from scaar.cli.addresses import CheckedAddress
from scaar.cli.serve.model_servers import find_model_servers
from scaar.cli.serve.named_files import FileCheck, orchestrator_files, retriever_files
from scaar.cli.serve.services import BACK_ENDS, ServiceName, full_name
from scaar.cli.unknown_variables import unknown_variables
from scaar.compose import (
    EMBEDDED,
    build_catalog,
    build_loop,
    missing_scorer,
    open_catalog,
    open_embedded_indexes,
    open_files,
    open_generator,
    open_ports,
    open_scorer,
    policy_with_contributions,
    read_policies,
    scaar_home,
)
from scaar.compose.defaults import with_default_language_model
from scaar.core.defaults import DEFAULTS
from scaar.core.defaults.text_kinds import Mismatch, scorer_mismatch
from scaar.core.distributions import lab_is_installed, library_required
from scaar.core.errors import BackendUnavailable, CapabilityMissing, InvalidRequest, ScaarError
from scaar.core.plurals import counted
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.ports import Generator
from scaar.core.registry import ExtensionInvalid, Registry, check_groups
from scaar.core.types import (
    ContinuationKind,
    IndexDescription,
    LogprobKind,
    ModelDescription,
    PolicyDescription,
    ScorerDescription,
)
from scaar.extensions import registries
from scaar.generator.factory import open_engine, with_pace_and_recommendations
from scaar.generator.server_probe import probe_server
from scaar.generator.settings import GeneratorSettings
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.retriever.local.files import IndexFiles
from scaar.retriever.settings import RetrieverSettings
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.config_file import source_of
from scaar.runtime.health import wait_until_serving
from scaar.scorer.settings import ScorerSettings

SERVING_TIMEOUT_S, ALIVE_TIMEOUT_S = 3.0, 1.0
_GOOD, _BAD, _WARNING = "✓", "✗", "!"
_CORRECT_SETTING = "Correct or unset this setting."
_CORRECT_ARTEFACT = "Correct or remove this artefact."
_UNUSUAL = ("ignored", "changed", "rejected")
_DIFFERENT = ("assumed", "another text follows", "missing (", "cannot continue a turn")
"""Findings of a probe that are not what the engine expects of the server."""
_SERVER_SETTINGS = {
    "tgi": "SCAAR_GENERATOR_URL",
    "openai": "SCAAR_GENERATOR_URL",
    "triton": "SCAAR_SCORER_TRITON_TARGET",
}
"""The setting with the address of the server behind an engine."""


def doctor(
    target: CheckedAddress = EMBEDDED,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe",
            help="Print what the model server returns, and its limits.",
        ),
    ] = False,
) -> None:
    """Check the installation, models, indexes and services.

    Every problem is reported with what to do. The exit status is 1 if there is a problem.
    """
    checks = _Checks()
    asyncio.run(_examine(checks, target, probe=probe))
    if checks.failed:
        raise typer.Exit(1)


class _Checks:
    """Prints a marked line for each check."""

    def __init__(self) -> None:
        self.failed = 0

    def good(self, what: str, found: str) -> None:
        print(f"{_GOOD} {what}: {found}", flush=True)

    def warning(self, what: str, found: str) -> None:
        print(f"{_WARNING} {what}: {found}", flush=True)

    def bad(self, what: str, found: str, advice: str) -> None:
        self.failed += 1
        print(f"{_BAD} {what}: {' '.join(found.split())}\n    {advice}", flush=True)

    async def run(self, what: str, check: Callable[[], Awaitable[str]], advice: str) -> None:
        """Run one check, and print its result or the problem with advice."""
        try:
            self.good(what, await check())
        except InvalidRequest as error:
            # A server that rejects a request of this process names no setting.
            of_server = all(each.field == "request" for each in error.violations)
            self.bad(what, str(error), advice if of_server else _CORRECT_SETTING)
        except CapabilityMissing as error:
            of_server = not {"server", "target"}.isdisjoint(error.metadata)
            install = "Install what is missing, or choose another engine."
            self.bad(what, str(error), advice if of_server else install)
        except ScaarError as error:
            self.bad(what, str(error), advice)


class _EmbeddedGenerator(AsyncExitStack):
    """The generator of this process, which the first check that needs it opens for all."""

    def __init__(self) -> None:
        super().__init__()
        self._engine: Generator | ScaarError | None = None

    async def engine(self) -> Generator:
        """Return the engine of the settings.

        Raises:
            ScaarError: it cannot be opened; the same error every time.
        """
        if self._engine is None:
            try:
                self._engine = await self.enter_async_context(open_engine(_generator_settings()))
            except ScaarError as error:
                self._engine = error
        if isinstance(self._engine, ScaarError):
            raise self._engine
        return self._engine

    async def generator(self) -> Generator:
        """Return the generator of the settings; see :meth:`engine`."""
        return with_pace_and_recommendations(await self.engine(), _generator_settings())


async def _examine(checks: _Checks, target: str, *, probe: bool) -> None:
    async with _EmbeddedGenerator() as embedded:
        await _check_all(checks, target, embedded)
        if probe:
            await _probe_server(checks, embedded)


async def _check_all(checks: _Checks, target: str, embedded: "_EmbeddedGenerator") -> None:
    checks.good("python", platform.python_version())
    for unknown in unknown_variables(os.environ):
        checks.warning("environment", str(unknown))
    try:
        settings = OrchestratorSettings.read()
    except InvalidRequest as error:
        checks.bad("settings", str(error), _CORRECT_SETTING)
        settings = OrchestratorSettings.model_construct()
    targets: dict[ServiceName, str] = {name: _target_of(settings, name) for name in BACK_ENDS}
    _check_packages(checks, targets)
    _check_home(checks, scaar_home())
    if target != EMBEDDED:
        await _check_service(checks, ServiceName.ORCHESTRATOR, target)
    for name, where in targets.items():
        if where != EMBEDDED:
            await _check_service(checks, name, where)
    await _check_extensions(checks)
    problems = checks.failed
    await _check_generator(checks, targets, embedded)
    known = checks.failed == problems
    if targets[ServiceName.GENERATOR] == EMBEDDED:
        await _offer_servers(checks)
    await _check_scorer(checks, settings, targets, target, embedded, known_model=known)
    if targets[ServiceName.RETRIEVER] == EMBEDDED:
        # Invalid settings are reported by the check of the indexes.
        with suppress(InvalidRequest):
            await _check_files(checks, retriever_files(RetrieverSettings.read()))
        await _check_indexes(checks)
    if target == EMBEDDED:
        await _check_files(checks, orchestrator_files(settings))
    await _check_tuned_policies(checks, settings, target, embedded)


def _check_home(checks: _Checks, home: Path) -> None:
    """Check that the data folder can be written, or created in the folder that exists above it."""
    nearest = next(each for each in (home, *home.absolute().parents) if os.access(each, os.F_OK))
    if not nearest.is_dir():
        checks.bad("data home", f"{nearest} is not a folder", "Set SCAAR_HOME to a folder.")
    elif not os.access(nearest, os.W_OK | os.X_OK):
        checks.warning("data home", f"{home}, which this user cannot write")
    else:
        checks.good("data home", str(home))


async def _check_files(checks: _Checks, files: Iterable[FileCheck]) -> None:
    for variable, check in files:
        await checks.run(
            source_of(variable), check, "Restore what this setting names, or unset it."
        )


async def _check_tuned_policies(
    checks: _Checks, settings: OrchestratorSettings, target: str, embedded: "_EmbeddedGenerator"
) -> None:
    """Check the tuned policies of the target, or of an orchestrator with these settings."""
    found: tuple[PolicyDescription, ...] = ()
    try:
        tuned = TunedPolicies() if target != EMBEDDED else read_policies(settings)
    except InvalidRequest as error:
        for problem in error.violations:
            if problem.field == "policy_folder":
                checks.bad("tuned policy", problem.description, _CORRECT_ARTEFACT)
            else:
                checks.bad("answers", str(problem), _CORRECT_SETTING)
        return
    except ScaarError as error:
        checks.bad("tuned policy", error.message, _CORRECT_ARTEFACT)
        return
    try:
        if target != EMBEDDED:
            # An orchestrator can serve answers only.
            with suppress(CapabilityMissing):
                async with open_catalog(target) as catalog:
                    found = await catalog.list_policies()
        elif tuned or not checks.failed:
            files = open_files(settings)
            here = settings.generator_target == EMBEDDED
            opened = await embedded.generator() if here else None
            async with open_ports(settings, opened=opened) as ports:
                loop = build_loop(ports, settings, files=files)
                found = await build_catalog(ports, loop).list_policies()
    except ScaarError as error:
        if not checks.failed:
            checks.bad("answers", str(error), _CORRECT_SETTING)
        elif target != EMBEDDED or settings.policy_folder is not None:
            checks.bad("tuned policies", str(error), "Correct the problems above.")
        return
    for each in found:
        if (artefact := each.artefact) is not None:
            expected = artefact.expected
            text = f"{artefact.digest[:12]}, {expected.searches_per_answer:g} searches per answer"
            what = f"tuned policy {each.name}"
            if artefact.mismatches:
                checks.warning(what, f"{text}; {'; '.join(artefact.mismatches)}")
            else:
                checks.good(what, f"{text}, retrieves for {expected.trigger_rate:.0%} of sentences")


def _check_packages(checks: _Checks, targets: dict[ServiceName, str]) -> None:
    """Check the packages of the embedded engines; servers and other processes have their own."""
    needed = {"scaar": "cli", "grpcio": "serve"}
    for name, cls, engines, package in (
        (ServiceName.GENERATOR, GeneratorSettings, ("onnx",), "onnxruntime"),
        (ServiceName.SCORER, ScorerSettings, ("onnx", "bi_encoder"), "onnxruntime"),
        (ServiceName.RETRIEVER, RetrieverSettings, ("bm25s",), "bm25s"),
    ):
        # An invalid setting is reported by the check of the model or of the indexes.
        with suppress(InvalidRequest):
            if targets[name] == EMBEDDED and cls.read().engine in engines:
                needed.setdefault(package, name)
    if targets[ServiceName.QUERY_BUILDER] == EMBEDDED:
        needed["textblob"] = ServiceName.QUERY_BUILDER
    for package, extra in needed.items():
        try:
            checks.good(package, version(package))
        except PackageNotFoundError:
            advice = f"Install scaar[{extra}], or scaar[all] for every part."
            checks.bad(package, "is not installed", advice)


async def _check_extensions(checks: _Checks) -> None:
    """Check the parts that installed packages add; the targets have their own."""

    async def loaded(registry: Registry[Any]) -> str:
        found = [f"{each.name} ({each.package})" for each in registry.extensions.values()]
        return ", ".join(found)

    advice, found = "Correct or uninstall this package.", registries()
    try:
        check_groups([each.group for each in found])
    except ExtensionInvalid as error:
        checks.bad("extensions", str(error), advice)
    for registry in found:
        try:
            if not registry.extensions:
                continue
        except ExtensionInvalid:
            pass
        await checks.run(registry.group, partial(loaded, registry), advice)

    async def defaults() -> str:
        return ", ".join(provider.text_kind for provider in DEFAULTS.values())

    if DEFAULTS.built_in:
        await checks.run("defaults", defaults, advice)


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
            text = f"{target} is running, but {full_name(name)} is not ready"
            raise BackendUnavailable(text, target=target) from error
        return f"{target} is SERVING"

    start = f"Start it there (scaar serve {name}), or correct the address."
    needs = " It is not ready before its generator and query-builder are."
    advice = start + needs * (name is ServiceName.ORCHESTRATOR)
    await checks.run(name, serving, advice)


async def _check_generator(
    checks: _Checks, targets: dict[ServiceName, str], embedded: "_EmbeddedGenerator"
) -> None:
    async def generator() -> str:
        return _model_text(await (await embedded.generator()).describe_model())

    async def need() -> str:
        from scaar.generator.engines.llama_cpp_server.need import describe_need

        return await asyncio.to_thread(describe_need, _generator_settings())

    name = ServiceName.GENERATOR
    if targets[name] != EMBEDDED:
        return
    # An invalid setting is reported by the check of the model.
    with suppress(InvalidRequest):
        if GeneratorSettings.read().engine == "llama_cpp":
            await checks.run("generator memory", need, _model_advice(name))
    await checks.run(f"{name} model", generator, _model_advice(name))


async def _check_scorer(
    checks: _Checks,
    settings: OrchestratorSettings,
    targets: dict[ServiceName, str],
    target: str,
    embedded_generator: "_EmbeddedGenerator",
    *,
    known_model: bool,
) -> None:
    """Check the scorer, and that it fits the model. Without a model, a scorer may be missing."""

    async def scorer() -> str:
        async with open_scorer() as opened:
            return _model_text(await opened.describe_model())

    what, embedded = "scorer", targets[ServiceName.SCORER] == EMBEDDED
    if embedded:
        what = "scorer model"
        missing = None
        # An invalid setting is reported by the check below.
        with suppress(InvalidRequest):
            missing = missing_scorer()
        if missing is not None:
            if not known_model:
                return
            with suppress(ScaarError):
                if not policy_with_contributions(settings, read_policies(settings)):
                    checks.warning(what, missing.message)
                    return
            checks.bad(what, "there is none for this model", missing.message)
            return
    mismatch = None
    # What cannot be described is a problem of its own.
    with suppress(ScaarError):
        mismatch = await _scorer_mismatch(targets, target, embedded_generator)
    if mismatch is not None and settings.allow_scorer_mismatch:
        checks.warning(what, f"{mismatch.problem}, which is allowed")
    elif mismatch is not None:
        checks.bad(what, mismatch.problem, f"To correct this, {mismatch.advice}.")
    elif embedded:
        await checks.run(what, scorer, _model_advice(ServiceName.SCORER))


async def _scorer_mismatch(
    targets: dict[ServiceName, str], target: str, embedded: "_EmbeddedGenerator"
) -> Mismatch | None:
    """Return how the scorer of the target, or of these targets, does not fit the model."""
    if target != EMBEDDED:
        async with open_catalog(target) as catalog:
            orchestrator = await catalog.describe()
        return scorer_mismatch(orchestrator.model, orchestrator.scorer)
    if targets[ServiceName.GENERATOR] == EMBEDDED:
        model = await (await embedded.generator()).describe_model()
    else:
        async with open_generator(targets[ServiceName.GENERATOR]) as generator:
            model = await generator.describe_model()
    async with open_scorer(targets[ServiceName.SCORER]) as scorer:
        return scorer_mismatch(model, await scorer.describe_model())


async def _offer_servers(checks: _Checks) -> None:
    """Print the model servers of this machine, if the settings name none."""
    # An invalid setting is reported by the check of the model.
    with suppress(InvalidRequest):
        if GeneratorSettings.read().engine not in _SERVER_SETTINGS:
            for server in await find_model_servers():
                where = f"found at port {server.port}, the usual one of {server.program}"
                checks.good("model server", f"{server} ({where}); to use it: {server.command()}")


async def _probe_server(checks: _Checks, embedded: "_EmbeddedGenerator") -> None:
    """Print the capabilities of the server of the generator, each in a line."""
    advice = _model_advice(ServiceName.GENERATOR)
    try:
        settings = _generator_settings()
        if settings.engine not in ("tgi", "openai", "llama_cpp"):
            text = (
                f"engine {settings.engine} has none to probe; engines openai, tgi and llama_cpp "
                "have one"
            )
            checks.warning("generator server", text)
            return
        for name, found in (await probe_server(await embedded.engine())).items():
            usual = found not in _UNUSUAL and not any(text in found for text in _DIFFERENT)
            (checks.good if usual else checks.warning)(f"generator server, {name}", found)
    except ScaarError as error:
        checks.bad("generator server", str(error), advice)


def _generator_settings() -> GeneratorSettings:
    return with_default_language_model(GeneratorSettings.read())


def _model_advice(name: ServiceName) -> str:
    """Return what to do when the model of a service cannot be described: a server's or a file's."""
    prefix = f"SCAAR_{name.upper()}"
    with suppress(InvalidRequest):
        if name is ServiceName.GENERATOR:
            engine: str = GeneratorSettings.read().engine
            if engine == "llama_cpp":
                return f"Set {prefix}_MODEL to another GGUF file or a model of scaar models list."
        else:
            engine = ScorerSettings.read().engine
        if server := _SERVER_SETTINGS.get(engine):
            return f"Start the {engine} server, or correct {server} and its credentials."
    return f"Restore the file, set {prefix}_MODEL to another model's folder, or unset it."


def _model_text(model: ModelDescription | ScorerDescription) -> str:
    text = f"{model.model} on {model.engine}, revision {model.revision or 'unknown'}"
    if isinstance(model, ModelDescription):
        if model.kind is not None:
            text += f", {model.kind}, prompt profile {model.prompt_profile}"
        if model.continuation is ContinuationKind.RESTATED:
            text += ", continues from restated text"
        if model.logprob_kind is LogprobKind.PROCESSED:
            text += ", processed log-probabilities"
    return text


async def _check_indexes(checks: _Checks) -> None:
    try:
        if RetrieverSettings.read().engine != "bm25s":
            await _check_server_indexes(checks)
            return
        files = IndexFiles(RetrieverSettings.read().indexes or scaar_home() / "indexes")
        names = files.names()
    except InvalidRequest as error:
        checks.bad("indexes", str(error), _CORRECT_SETTING)
        return
    except (ScaarError, OSError) as error:
        checks.bad(
            "indexes", str(error), "Make the folder readable for this user, or set SCAAR_HOME."
        )
        return
    if not names:
        lab = "; the first question builds the lab's" if lab_is_installed() else ""
        checks.good("indexes", f"none yet{lab}")
    for name in names:
        advice = f"Drop it (scaar index drop {name}) and build it again; lab is built by itself."
        await checks.run(f"index {name}", partial(asyncio.to_thread, _verify, files, name), advice)


async def _check_server_indexes(checks: _Checks) -> None:
    found: list[IndexDescription] = []

    async def whole() -> str:
        # Encoder and reranker have checks of their own.
        no_models = {"encoder": None, "reranker": None, "rerank_url": None, "preload": ()}
        settings = RetrieverSettings.read().model_copy(update=no_models)
        async with open_embedded_indexes(settings) as indexes:
            found.extend(await indexes.list_indexes())
        listed = (
            f"{each.name} ({counted(each.passages, 'passage')})"
            for each in found
            if not each.damage
        )
        return ", ".join(listed) or "none yet"

    await checks.run(
        "indexes",
        whole,
        "Start the OpenSearch server, or correct SCAAR_RETRIEVER_OPENSEARCH_URLS and its "
        "credentials.",
    )
    for each in found:
        if each.damage:
            advice = f"For details, scaar index verify {each.name}; build it again with --replace."
            checks.bad(f"index {each.name}", each.damage, advice)


def _verify(files: IndexFiles, name: str) -> str:
    try:
        manifest = files.read_manifest(name)
        # Only this check needs the engine's libraries.
        with library_required("engine bm25s", "retriever"):
            from scaar.retriever.local.loaded_index import open_index

        open_index(files.root / name / manifest.folder, manifest, checksums=True)
    except OSError as error:
        raise BackendUnavailable(f"{name} cannot be read: {error}") from error
    return f"{counted(manifest.passages, 'passage')}, version {manifest.version[:12]}"
