"""What compose starts and what the chart starts are the same services, set in the same way."""

import json
import re
from collections.abc import Mapping

import pytest

from .containers import (
    NAMES,
    ContainerSpec,
    chart_containers,
    compose_containers,
    effective,
    known_variables,
)
from .differences import DIFFERENCES, FILES
from .rendering import NAMESPACE, RELEASE, render
from .scenarios import SCENARIOS

PROFILES = ("lab", "production")
HOST = re.compile(rf"{RELEASE}-scaar-([a-z-]+)\.{NAMESPACE}\.svc\.cluster\.local")
MIGRATIONS = {"migration", "records-migration"}
READ_BY_MIGRATIONS = {"database", "database_file"}


def in_both(profile: str) -> dict[str, tuple[ContainerSpec, ContainerSpec]]:
    """The containers that read settings, of compose and of the chart."""
    ours, theirs = compose_containers(profile), chart_containers(SCENARIOS[profile].rendered())
    return {name: (each, theirs[name]) for name, each in ours.items() if settable(name)}


def settable(name: str) -> bool:
    return name not in ("tgi-lab", "index-lab")


def settings(name: str, installed: ContainerSpec) -> dict[str, str]:
    """The settings that the process goes by, in JSON."""
    found = {
        setting: json.dumps(value, sort_keys=True) for setting, value in effective(name, installed)
    }
    if name in MIGRATIONS:
        return {setting: found[setting] for setting in READ_BY_MIGRATIONS}
    return found


def meant(value: str) -> str:
    """A value of the chart's in compose's words: the names of hosts, and where secrets stand."""
    value = HOST.sub(lambda host: NAMES.get(host[1], host[1]), value)
    return re.sub(r"/etc/scaar/[a-z/.-]+", lambda file: FILES.get(file[0], file[0]), value)


def differing(
    containers: Mapping[str, tuple[ContainerSpec, ContainerSpec]],
) -> dict[str, tuple[str, str]]:
    """The settings that do not mean the same, by part and setting: compose's and the chart's."""
    found = {}
    for name, (ours, theirs) in containers.items():
        chart = settings(name, theirs)
        for setting, value in settings(name, ours).items():
            if value != meant(chart[setting]):
                found[f"{name}: {setting}"] = (value, chart[setting])
    return found


def declared(profile: str) -> list[str]:
    return [
        f"{part}: {setting}"
        for difference in DIFFERENCES
        if difference.profile == profile
        for part, setting in difference.each()
    ]


@pytest.mark.parametrize("profile", PROFILES)
def test_both_start_the_same_services_of_the_same_images(profile: str) -> None:
    ours, theirs = compose_containers(profile), chart_containers(SCENARIOS[profile].rendered())
    assert {name: each.image for name, each in ours.items()} == {
        name: each.image for name, each in theirs.items()
    }
    for name, (compose, chart) in in_both(profile).items():
        assert compose.arguments == chart.arguments, name


@pytest.mark.parametrize("profile", PROFILES)
def test_settings_are_equal_except_for_listed_differences(profile: str) -> None:
    found = differing(in_both(profile))
    assert {each: found[each] for each in found.keys() - declared(profile)} == {}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_listed_difference_exists(profile: str) -> None:
    stated = declared(profile)
    assert len(stated) == len(set(stated))
    assert set(stated) - differing(in_both(profile)).keys() == set()


def test_every_file_is_one_that_both_are_given() -> None:
    both = in_both("production").items()
    ours = " ".join(" ".join(settings(name, compose).values()) for name, (compose, _) in both)
    theirs = " ".join(" ".join(settings(name, chart).values()) for name, (_, chart) in both)
    for pod, container in FILES.items():
        assert f'"{pod}"' in theirs
        assert f'"{container}"' in ours


@pytest.mark.parametrize("profile", PROFILES)
def test_every_variable_is_one_that_its_service_knows(profile: str) -> None:
    for installed in (compose_containers(profile), chart_containers(SCENARIOS[profile].rendered())):
        for name, each in installed.items():
            given = {variable for variable in each.environment if variable.startswith("SCAAR_")}
            assert given - known_variables(name) == set(), name


def test_a_setting_of_only_one_is_listed_for_every_process_that_has_it() -> None:
    values = {
        "evaluator": {"settings": {"concurrency": 9}},
        "scorer": {"settings": {"cache_entries": 7}},
        "log": {"level": "error"},
    }
    theirs = chart_containers(render(values, preset="production"))
    changed = {name: (ours, theirs[name]) for name, (ours, _) in in_both("production").items()}
    reported = differing(changed).keys() - declared("production")
    assert reported == {
        "evaluator: concurrency",
        "worker: concurrency",
        "scorer: cache_entries",
        *(f"{name}: log_level" for name in changed if name not in MIGRATIONS),
    }
