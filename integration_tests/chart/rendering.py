"""Rendering of the chart by helm."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from .tools import helm

Object = dict[str, Any]
CHART = Path(__file__).resolve().parents[2] / "helm" / "scaar"
KUBERNETES = "1.33.0"
RELEASE, NAMESPACE = "films", "questions"


class RefusedValues(Exception):
    """Error of helm about invalid values."""


@dataclass(frozen=True, eq=False)
class Rendered:
    """The objects of a release."""

    objects: tuple[Object, ...]

    def of(self, kind: str) -> list[Object]:
        return [each for each in self.objects if each["kind"] == kind]

    def one(self, kind: str, name: str) -> Object:
        """Return the object of a kind by its name without the prefix of the release."""
        (found,) = [each for each in self.of(kind) if each["metadata"]["name"] == full(name)]
        return found

    def names(self, kind: str) -> set[str]:
        return {each["metadata"]["name"].removeprefix(f"{full()}-") for each in self.of(kind)}

    def pods(self) -> Iterator[tuple[Object, Object]]:
        """Yield every object with pods, and the template of its pods."""
        for each in self.objects:
            match each["kind"]:
                case "Deployment" | "Job":
                    yield each, each["spec"]["template"]
                case "Pod":
                    yield each, each

    def pod(self, name: str) -> Object:
        (found,) = [pod for owner, pod in self.pods() if owner["metadata"]["name"] == full(name)]
        return found

    def environment(self, name: str) -> dict[str, str]:
        """Return the variables of the main container of a part."""
        container = self.pod(name)["spec"]["containers"][0]
        return {each["name"]: each["value"] for each in container["env"] if "value" in each}


def full(name: str = "") -> str:
    """Return the name of an object of the release."""
    return "-".join(filter(None, (f"{RELEASE}-scaar", name)))


def render(
    values: Mapping[str, object] | None = None, *, preset: str = "", chart: Path = CHART
) -> Rendered:
    """Render a release with these values, which override those of a preset.

    Raises:
        RefusedValues: by the schema, or since they do not go together.
    """
    return _render(yaml.safe_dump(values or {}), preset, chart)


@cache
def _render(values: str, preset: str, chart: Path) -> Rendered:
    files = ["--values", str(chart / f"values-{preset}.yaml")] if preset else []
    ran = run_helm(
        ["template", RELEASE, str(chart), "--namespace", NAMESPACE, *files, "--values", "-"],
        values,
    )
    if ran.returncode:
        raise RefusedValues(ran.stderr)
    return Rendered(
        tuple(each for each in yaml.load_all(ran.stdout, Loader=yaml.CSafeLoader) if each)
    )


def run_helm(arguments: Sequence[str], values: str) -> subprocess.CompletedProcess[str]:
    """Run helm with values on its standard input."""
    command = [str(helm()), *arguments, "--kube-version", KUBERNETES]
    return subprocess.run(command, input=values, capture_output=True, text=True, check=False)
