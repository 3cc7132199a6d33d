"""scaar's own containers, as compose starts them and as the chart does: by the same names."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

from scaar.cli.services import ServiceName
from scaar.cli.settings import settings_class
from scaar.runtime.breaker_settings import BreakerSettings
from scaar.runtime.channel_security import ChannelSecurity
from scaar.runtime.config_file import CONFIG_VARIABLE, ConfigFile
from scaar.runtime.settings import Settings, section_name, variable_of

from .rendering import Rendered

DEPLOY = Path(__file__).parents[2] / "deploy"
PREFIX = "scaar/"
OF_THE_EVALUATOR = ("worker", "migration")
CALLING: tuple[type[Settings], ...] = (ChannelSecurity, BreakerSettings)
NAMES = {"lab-model": "tgi-lab", "index-load": "index-lab", "migrations": "migration"}
"""What the chart and compose call differently."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A container: its image, what it is told to do, and its variables."""

    image: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def composed(profile: str) -> dict[str, Installed]:
    """The services of compose.yaml, by the names that they have on the network."""
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    found = {}
    for name, each in services.items():
        image = _with_defaults(each["image"])
        if each["profiles"] == [profile] and image.startswith(PREFIX):
            networks = each.get("networks", ())
            (called,) = networks["default"]["aliases"] if isinstance(networks, dict) else (name,)
            given = each.get("environment", {})
            variables = {variable: _with_defaults(value) for variable, value in given.items()}
            found[called] = Installed(image, tuple(each.get("command", ())), variables)
    assert found
    return found


def charted(release: Rendered) -> dict[str, Installed]:
    """The parts of a release, by compose's names; without its test."""
    found = {}
    for owner, pod in release.pods():
        (container,) = pod["spec"]["containers"]
        if owner["kind"] != "Pod" and container["image"].startswith(PREFIX):
            part = owner["metadata"]["labels"]["app.kubernetes.io/component"]
            variables = {each["name"]: each["value"] for each in container.get("env", ())}
            arguments = tuple(container.get("args", ()))
            found[NAMES.get(part, part)] = Installed(container["image"], arguments, variables)
    return found


def own_settings(name: str) -> tuple[type[Settings], ...]:
    """What a container of that name reads; what calls services and is none is set as a caller."""
    if name in OF_THE_EVALUATOR:
        return (settings_class(ServiceName.EVALUATOR), *CALLING)
    return (settings_class(ServiceName(name)), *CALLING) if name in {*ServiceName} else CALLING


def known_variables(name: str) -> set[str]:
    """The variables that a container of that name knows."""
    own = {variable_of(cls, field) for cls in own_settings(name) for field in cls.model_fields}
    return own | {CONFIG_VARIABLE, "SCAAR_HOME"}


def effective(name: str, installed: Installed) -> Iterator[tuple[str, object]]:
    """Every setting as the process has it: of its variables, its image's, its file, the defaults.

    Each is called by its field, those of a section that is not its own by that first.
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
    """The text with the default of every variable that compose would put there."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


@cache
def _of_image(image: str) -> Mapping[str, str]:
    """What the Dockerfile sets for the image."""
    target = image.removeprefix(PREFIX).partition(":")[0]
    stages = re.split(r"^FROM ", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    (stage,) = (each for each in stages if each.startswith(f"runtime AS {target}\n"))
    return dict(re.findall(r"\b(SCAAR_\w+)=(\S+)", stage))
