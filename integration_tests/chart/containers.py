"""Containers of scaar in compose and in the chart, by the same names."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import settings_class
from scaar.runtime.breaker_settings import BreakerSettings
from scaar.runtime.channel_security import ChannelSecurity
from scaar.runtime.config_file import CONFIG_VARIABLE, ConfigFile
from scaar.runtime.settings import Settings, section_name, variable_of

from .rendering import Rendered

DEPLOY = Path(__file__).parents[2] / "deploy"
PREFIX = "scaar/"
OWNERS = {
    "worker": ServiceName.EVALUATOR,
    "migration": ServiceName.EVALUATOR,
    "records-migration": ServiceName.RECORDS,
}
"""Services whose settings other processes read."""

CALLING: tuple[type[Settings], ...] = (ChannelSecurity, BreakerSettings)
NAMES = {
    "lab-model": "tgi-lab",
    "index-load": "index-lab",
    "migrations": "migration",
    "records-migrations": "records-migration",
}
"""Names of the chart that differ in compose."""


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """Image, arguments and variables of a container."""

    image: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def compose_containers(profile: str) -> dict[str, ContainerSpec]:
    """Return the containers of compose.yaml, by their names on the network."""
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    found = {}
    for name, each in services.items():
        image = _with_defaults(each["image"])
        if each["profiles"] == [profile] and image.startswith(PREFIX):
            networks = each.get("networks", ())
            (called,) = networks["default"]["aliases"] if isinstance(networks, dict) else (name,)
            given = each.get("environment", {})
            variables = {variable: _with_defaults(value) for variable, value in given.items()}
            found[called] = ContainerSpec(image, tuple(each.get("command", ())), variables)
    assert found
    return found


def chart_containers(release: Rendered) -> dict[str, ContainerSpec]:
    """Return the containers of a release without its test, by compose's names."""
    found = {}
    for owner, pod in release.pods():
        (container,) = pod["spec"]["containers"]
        if owner["kind"] != "Pod" and container["image"].startswith(PREFIX):
            part = owner["metadata"]["labels"]["app.kubernetes.io/component"]
            variables = {each["name"]: each["value"] for each in container.get("env", ())}
            arguments = tuple(container.get("args", ()))
            found[NAMES.get(part, part)] = ContainerSpec(container["image"], arguments, variables)
    return found


def own_settings(name: str) -> tuple[type[Settings], ...]:
    """Return the settings classes that a container reads; pure clients read those of channels."""
    if name in OWNERS:
        return (settings_class(OWNERS[name]), *CALLING)
    return (settings_class(ServiceName(name)), *CALLING) if name in {*ServiceName} else CALLING


def known_variables(name: str) -> set[str]:
    """Return the variables that a container knows."""
    own = {variable_of(cls, field) for cls in own_settings(name) for field in cls.model_fields}
    return own | {CONFIG_VARIABLE, "SCAAR_HOME"}


def effective(name: str, installed: ContainerSpec) -> Iterator[tuple[str, object]]:
    """Yield the effective value of every setting, from variables, image, file and defaults.

    The name of a setting of another section starts with the section.
    """
    environment = {**_of_image(installed.image), **installed.environment}
    config = None
    if environment.pop(CONFIG_VARIABLE, None):
        config = ConfigFile.read(DEPLOY / "examples" / "production.yaml")
    with pytest.MonkeyPatch.context() as patch:
        for variable in [each for each in os.environ if each.startswith("SCAAR_")]:
            patch.delenv(variable)
        for variable, value in environment.items():
            patch.setenv(variable, value)
        for cls in own_settings(name):
            before = f"{section_name(cls)}." if cls in CALLING else ""
            for field, value in cls.read(config).model_dump(mode="json").items():
                yield f"{before}{field}", value


def _with_defaults(text: str) -> str:
    """Replace every variable of compose by its default."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


@cache
def _of_image(image: str) -> Mapping[str, str]:
    """Return the variables that the Dockerfile sets for an image."""
    target = image.removeprefix(PREFIX).partition(":")[0]
    stages = re.split(r"^FROM ", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    (stage,) = (each for each in stages if each.startswith(f"runtime AS {target}\n"))
    return dict(re.findall(r"\b(SCAAR_\w+)=(\S+)", stage))
