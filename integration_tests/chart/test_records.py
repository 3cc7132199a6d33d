"""Records of answers: which pods share their database, and what each is given of it."""

import pytest

from .rendering import Object, Rendered, full
from .scenarios import SCENARIOS
from .test_network import called, outside

FILE = "sqlite:////var/lib/scaar/records.sqlite"
SHARING = ("orchestrator", "records")


def home(release: Rendered, name: str) -> Object:
    (found,) = [each for each in release.pod(name)["spec"]["volumes"] if each["name"] == "home"]
    return dict(found)


def test_without_them_nothing_is_left_of_them() -> None:
    release = SCENARIOS["neither records nor console"].rendered()
    named = [each["metadata"]["name"] for each in release.objects]
    assert not [each for each in named if "records" in each or "console" in each]
    assert not [each for each in release.environment("orchestrator") if "RECORDS" in each]
    assert "emptyDir" in home(release, "orchestrator")


def test_by_default_no_records_are_kept_and_no_pages_are_served() -> None:
    release = SCENARIOS["as it comes"].rendered()
    assert not {"records", "console"} & release.names("Deployment")
    assert not [each for each in release.environment("orchestrator") if "RECORDS" in each]


def test_the_lab_shares_an_sqlite_file_on_one_node() -> None:
    release = SCENARIOS["lab"].rendered()
    written = release.environment("orchestrator")
    assert written["SCAAR_ORCHESTRATOR_RECORDS_DATABASE"] == FILE
    assert written["SCAAR_ORCHESTRATOR_RECORDS_CONTENT"] == "full"
    assert release.environment("records")["SCAAR_RECORDS_DATABASE"] == FILE
    for name in SHARING:
        claim = {"claimName": full("records")}
        assert home(release, name)["persistentVolumeClaim"] == claim
        assert release.one("Deployment", name)["spec"]["strategy"] == {"type": "Recreate"}
        (term,) = release.pod(name)["spec"]["affinity"]["podAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]
        assert term["topologyKey"] == "kubernetes.io/hostname"
        (among,) = term["labelSelector"]["matchExpressions"]
        assert among["values"] == [*SHARING]
        (migrating,) = release.pod(name)["spec"]["initContainers"]
        assert migrating["args"] == ["db", "upgrade", "--tables", "records"]
        assert {"name": "home", "mountPath": "/var/lib/scaar"} in migrating["volumeMounts"]


def test_records_outlive_the_release() -> None:
    claim = SCENARIOS["lab"].rendered().one("PersistentVolumeClaim", "records")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


def test_an_affinity_of_the_values_replaces_that_of_the_file() -> None:
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
    given = SCENARIOS["lab"].values | {"records": {"affinity": affinity}}
    release = type(SCENARIOS["lab"])(given, "lab").rendered()
    assert release.pod("records")["spec"]["affinity"] == affinity


def test_on_postgresql_both_read_the_url_from_a_secret() -> None:
    release = SCENARIOS["records on PostgreSQL"].rendered()
    written = release.environment("orchestrator")
    url = "/etc/scaar/records-database/url"
    assert written["SCAAR_ORCHESTRATOR_RECORDS_DATABASE_FILE"] == url
    assert written["SCAAR_ORCHESTRATOR_RECORDS_HASH_KEY_FILE"] == "/etc/scaar/records-key/key"
    assert release.environment("records")["SCAAR_RECORDS_DATABASE_FILE"] == url
    mounted = {
        owner["metadata"]["name"].removeprefix("films-scaar-"): {
            each["secret"]["secretName"] for each in pod["spec"]["volumes"] if "secret" in each
        }
        for owner, pod in release.pods()
    }
    assert {name: found for name, found in mounted.items() if found} == {
        "orchestrator": {"records-database", "records-key"},
        "records": {"records-database"},
        "records-migrations": {"records-database"},
    }
    for name in ("orchestrator", "records", "records-migrations"):
        assert outside(release, name) == {5433}
    for name in SHARING:
        assert release.one("Deployment", name)["spec"]["strategy"]["type"] == "RollingUpdate"
        assert not {"affinity", "initContainers"} & set(release.pod(name)["spec"])


def test_their_migration_runs_before_the_pods() -> None:
    job = SCENARIOS["production"].rendered().one("Job", "records-migrations")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["db", "upgrade", "--tables", "records"]
    assert container["image"].startswith("scaar/records:")


def test_records_can_be_served_without_being_written() -> None:
    release = SCENARIOS["records without their orchestrator"].rendered()
    assert "affinity" not in release.pod("orchestrator")["spec"]
    assert "emptyDir" in home(release, "orchestrator")
    assert home(release, "records")["persistentVolumeClaim"] == {"claimName": "kept"}


@pytest.mark.parametrize("scenario", ["lab", "production"])
def test_the_service_of_records_calls_no_other(scenario: str) -> None:
    assert called(SCENARIOS[scenario].rendered(), "records") == set()
