"""The settings of every service, and the YAML file of ``--config``."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import assert_never

from scaar.cli.serve.services import ServiceName
from scaar.core.errors import InvalidRequest, Violation
from scaar.runtime.breaker_settings import BreakerSettings, limits_of
from scaar.runtime.channel_security import ChannelSecurity
from scaar.runtime.config_file import CONFIG_VARIABLE, ConfigFile, source_of
from scaar.runtime.settings import ProcessSettings, Settings, section_name


def settings_class(service: ServiceName) -> type[ProcessSettings]:
    """Return the settings class of a service."""
    match service:
        case ServiceName.GENERATOR:
            from scaar.generator.settings import GeneratorSettings

            return GeneratorSettings
        case ServiceName.SCORER:
            from scaar.scorer.settings import ScorerSettings

            return ScorerSettings
        case ServiceName.QUERY_BUILDER:
            from scaar.query_builder.settings import QueryBuilderSettings

            return QueryBuilderSettings
        case ServiceName.RETRIEVER:
            from scaar.retriever.settings import RetrieverSettings

            return RetrieverSettings
        case ServiceName.ORCHESTRATOR:
            from scaar.orchestrator.settings import OrchestratorSettings

            return OrchestratorSettings
        case ServiceName.EVALUATOR:
            from scaar.evaluator.settings import EvaluatorSettings

            return EvaluatorSettings
        case ServiceName.RECORDS:
            from scaar.records.settings import RecordsSettings

            return RecordsSettings
        case ServiceName.CONSOLE:
            from scaar.console.settings import ConsoleSettings

            return ConsoleSettings
        case ServiceName.GATEWAY:
            from scaar.gateway.settings import GatewaySettings

            return GatewaySettings
        case _:
            assert_never(service)


def read_every(
    config: ConfigFile | None = None, *, together: bool = True
) -> dict[ServiceName, ProcessSettings]:
    """Read the settings of every service from the environment and a file.

    The settings of channels and of breakers are checked too. ``together`` is whether settings of a
    service must be compatible, and not only valid by themselves.

    Raises:
        InvalidRequest: names every invalid setting of every service.
    """
    classes = {service: settings_class(service) for service in ServiceName}
    found: dict[ServiceName, ProcessSettings] = {}
    wrong: list[Violation] = []
    if config is not None:
        known: list[type[Settings]] = [*classes.values(), ChannelSecurity, BreakerSettings]
        wrong += config.unknown([section_name(cls) for cls in known])
    for service, cls in classes.items():
        try:
            found[service] = cls.read(config) if together else cls.read_each(config)
        except InvalidRequest as error:
            wrong += error.violations
    for check in (
        lambda: ChannelSecurity.read(config),
        lambda: limits_of(BreakerSettings.read(config)),
    ):
        try:
            check()
        except InvalidRequest as error:
            wrong += error.violations
    if wrong:
        raise InvalidRequest(wrong)
    return found


def use_config(path: Path) -> None:
    """Make this process and its children read the file.

    Whether the settings are compatible is checked by the command, whose options may add some.

    Raises:
        InvalidRequest: names every invalid setting of the file and of the environment.
    """
    config = ConfigFile.read(path.absolute())
    os.environ[CONFIG_VARIABLE] = str(config.path)
    read_every(config, together=False)


@contextmanager
def sources_reported() -> Iterator[None]:
    """Name the configuration file in errors of settings that it has, and leave it with the block.

    Raises:
        InvalidRequest: as in the block.
    """
    before = os.environ.get(CONFIG_VARIABLE)
    try:
        yield
    except InvalidRequest as error:
        named = [Violation(source_of(each.field), each.description) for each in error.violations]
        raise InvalidRequest(named, detail=error.detail) from error
    finally:
        os.environ.pop(CONFIG_VARIABLE, None)
        if before is not None:
            os.environ[CONFIG_VARIABLE] = before
