"""Policy artefacts: a ConfigMap that the orchestrator mounts, and its folder."""

from typing import Any

from scaar.core.policies.artefact_json import artefact_from_json, artefact_to_json
from scaar.testing.artefacts import artefact_of

from .rendering import Rendered, full, render
from .scenarios import SCENARIOS

FOLDER = "/etc/scaar/artefacts"
ARTEFACT = artefact_of("tuned-1.4")


def released(**artefacts: Any) -> Rendered:
    return render({"orchestrator": {"artefacts": artefacts}}, preset="lab")


def mounted(release: Rendered, part: str = "orchestrator") -> tuple[Any, Any]:
    """The ConfigMap of the pod's volume, and the folder at which it is mounted."""
    pod = release.pod(part)["spec"]
    (container,) = pod["containers"]
    volumes = {each["name"]: each for each in pod["volumes"]}
    mounts = {each["name"]: each for each in container["volumeMounts"]}
    if "artefacts" not in volumes:
        return None, mounts.get("artefacts")
    assert mounts["artefacts"]["readOnly"] is True
    return volumes["artefacts"]["configMap"]["name"], mounts["artefacts"]["mountPath"]


def test_artefacts_in_the_values_are_mounted_as_files() -> None:
    release = released(files={"tuned": artefact_to_json(ARTEFACT).decode()})
    config = release.one("ConfigMap", "artefacts")
    content = config["data"]["tuned.json"]
    assert artefact_from_json(content.encode(), "tuned.json") == ARTEFACT
    assert mounted(release) == (full("artefacts"), FOLDER)
    assert release.environment("orchestrator")["SCAAR_ORCHESTRATOR_POLICY_FOLDER"] == FOLDER
    assert mounted(release, "generator") == (None, None)


def test_another_artefact_starts_new_pods() -> None:
    one, other = (
        released(files={"tuned": artefact_to_json(artefact_of(name)).decode()})
        for name in ("one", "other")
    )
    checksums = [
        each.pod("orchestrator")["metadata"]["annotations"]["checksum/artefacts"]
        for each in (one, other)
    ]
    assert checksums[0] != checksums[1]


def test_a_config_map_of_ones_own_is_mounted() -> None:
    release = released(existingConfigMap="policies")
    assert mounted(release) == ("policies", FOLDER)
    assert release.of("ConfigMap") == []


def test_without_artefacts_nothing_is_mounted() -> None:
    release = SCENARIOS["lab"].rendered()
    assert mounted(release) == (None, None)
    assert "SCAAR_ORCHESTRATOR_POLICY_FOLDER" not in release.environment("orchestrator")
