"""The generated parts of the chart are up to date, and its schema describes every value."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from reference.__main__ import ROOT
from reference.chart import CHART, COPIES, SET_BY_CHART, chart_files, key_of, updated_schema
from scaar import __version__
from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import settings_class
from scaar.runtime.targets import PATTERN

FOLDER = ROOT / CHART
# What Kubernetes has schemas of its own for, which the chart passes on.
OF_KUBERNETES = {
    *("affinity", "behavior", "clients", "dns", "external", "extraEnv", "extraVolumeMounts"),
    *("extraVolumes", "global", "indexers", "metrics", "prometheus", "strategy", "tolerations"),
    "triggers",
}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "values.schema.json").read_text())
    return found


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "values.yaml").read_text())
    return found


def nodes(
    schema: Mapping[str, Any], node: Mapping[str, Any], path: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every value of the schema with its path."""
    for name, inner in node.get("properties", {}).items():
        found = schema["$defs"][inner["$ref"].rpartition("/")[2]] if "$ref" in inner else inner
        yield f"{path}{name}", found
        yield from nodes(schema, found, f"{path}{name}.")


def test_the_generated_files_are_up_to_date() -> None:
    for path, expected in chart_files(ROOT).items():
        assert (ROOT / path).read_text() == expected, f"{path}: run make proto"


def test_copies_equal_their_originals() -> None:
    for copy, original in COPIES.items():
        assert (ROOT / copy).read_bytes() == (ROOT / original).read_bytes()


def test_every_value_is_described_and_unknown_values_are_rejected(schema: dict[str, Any]) -> None:
    assert schema["additionalProperties"] is False
    for path, node in nodes(schema, schema):
        assert node.get("description"), path
        name = path.rpartition(".")[2]
        if node.get("type") == "object" and name not in OF_KUBERNETES:
            assert node["additionalProperties"] is not True, path
        assert "enum" in node or "type" in node, path


def test_every_value_has_a_default(schema: dict[str, Any], values: dict[str, Any]) -> None:
    for path, _ in nodes(schema, schema):
        at: Any = values
        head, _, setting = path.partition(".settings.")
        if setting or head == "global":
            continue
        for name in path.split("."):
            at = at[name]


def test_settings_are_values_except_secrets_and_those_set_by_the_chart(
    schema: dict[str, Any],
) -> None:
    for service in ServiceName:
        fields = set(settings_class(service).model_fields)
        taken = set(schema["$defs"][f"{key_of(service)}Settings"]["properties"])
        secrets = {"api_key", "opensearch_password", "rerank_api_key"}
        secrets |= {"database", "records_database", "broker"}
        assert taken == fields - SET_BY_CHART - secrets
    every = set().union(*(settings_class(service).model_fields for service in ServiceName))
    assert every >= SET_BY_CHART


def test_a_setting_has_its_range_in_the_schema() -> None:
    schema = json.loads(updated_schema((FOLDER / "values.schema.json").read_text()))
    of_scorer = schema["$defs"]["scorerSettings"]["properties"]
    assert of_scorer["max_batch_pairs"]["maximum"] == 4096
    assert of_scorer["padding"]["enum"] == ["longest", "bucket"]
    of_generator = schema["$defs"]["generatorSettings"]["properties"]
    inner = {"type": "object", "additionalProperties": {"type": "number"}}
    assert of_generator["recommended"]["additionalProperties"] == inner


def test_a_target_has_its_form_in_the_schema() -> None:
    schema = json.loads(updated_schema((FOLDER / "values.schema.json").read_text()))
    targets = schema["$defs"]["evaluatorSettings"]["properties"]["scorer_targets"]
    target = {"type": "string", "pattern": PATTERN}
    assert targets["patternProperties"] == {"^(permuted|constant|idf)$": target}
    assert targets["additionalProperties"] is False
    of_triton = schema["properties"]["contributionModel"]["properties"]["target"]["pattern"]
    assert re.search(of_triton, "")
    assert re.search(of_triton, "dns:///triton:8001")
    assert not re.search(of_triton, "dns:///triton")


def test_the_chart_has_the_version_of_the_package() -> None:
    chart = yaml.safe_load((FOLDER / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


@pytest.mark.parametrize("preset", sorted(FOLDER.glob("values-*.yaml")), ids=lambda path: path.name)
def test_a_preset_sets_existing_values(preset: Path, schema: dict[str, Any]) -> None:
    known = {path for path, _ in nodes(schema, schema)}

    def held(given: Mapping[str, Any], before: str = "") -> None:
        for name, value in given.items():
            assert f"{before}{name}" in known
            if isinstance(value, dict) and any(
                path.startswith(f"{before}{name}.") for path in known
            ):
                held(value, f"{before}{name}.")

    held(yaml.safe_load(preset.read_text()))
