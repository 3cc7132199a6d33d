"""Generated parts of the Helm chart: settings in its schema, tables of its values, copied files.

A chart can only read its own files, so it has copies of the alerts and the dashboard.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from reference.markdown import plain, replace_parts, table
from reference.settings import docstrings
from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import settings_class
from scaar.runtime.settings import ProcessSettings, Settings
from scaar.runtime.targets import PATTERN

CHART = "helm/scaar"
COPIES: Mapping[str, str] = {
    f"{CHART}/files/alerts.yml": "deploy/observability/alerts.yml",
    f"{CHART}/files/scaar.json": "deploy/observability/grafana/dashboards/scaar.json",
}
SET_BY_CHART = frozenset(
    """
    address health_address metrics_address otlp_endpoint drain_s stop_grace_s
    tls_cert_file tls_key_file tls_client_ca_file identities_file
    generator_target scorer_target query_builder_target retriever_target orchestrator_target
    records_target evaluator_target records_database_file records_content records_hash_key_file
    policy_folder
    url api_key_file ca_file triton_target triton_tls triton_ca_file
    opensearch_urls opensearch_user opensearch_password_file opensearch_ca_file
    database_file broker_file executor
    """.split()
)
"""Settings that the chart sets from other values."""
_SHAPE = (
    *("type", "enum", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "items",
)
_COLUMNS = ("value", "description", "default")


def chart_files(root: Path) -> Mapping[str, str]:
    """Return the content of the chart's generated files, by path below ``root``."""
    folder = root / CHART
    schema = updated_schema((folder / "values.schema.json").read_text())
    values = yaml.safe_load((folder / "values.yaml").read_text())
    parts = value_parts(json.loads(schema), values)
    return {
        f"{CHART}/values.schema.json": schema,
        f"{CHART}/README.md": replace_parts((folder / "README.md").read_text(), parts),
        **{copy: (root / original).read_text() for copy, original in COPIES.items()},
    }


def updated_schema(text: str) -> str:
    """Return the schema with the current settings of every service."""
    schema = json.loads(text)
    for service in ServiceName:
        schema["$defs"][f"{key_of(service)}Settings"] = _settings(settings_class(service))
    of_triton = schema["properties"]["contributionModel"]["properties"]["target"]
    of_triton["pattern"] = f"^$|{PATTERN}"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def key_of(service: ServiceName) -> str:
    """Return the key of a service in the values."""
    first, *others = service.split("-")
    return first + "".join(other.title() for other in others)


def _settings(cls: type[Settings]) -> dict[str, object]:
    shared = (base for base in cls.__mro__ if issubclass(base, ProcessSettings))
    descriptions = {name: text for base in shared for name, text in docstrings(base).items()}
    schema = cls.model_json_schema()
    properties, defined = schema["properties"], schema.get("$defs", {})
    fields = {
        name: {"description": plain(descriptions[name]), **_shape(properties[name], defined)}
        for name in cls.model_fields
        if name not in SET_BY_CHART and "writeOnly" not in json.dumps(properties[name])
    }
    return {
        "description": "Settings of the service, as docs/configuration.md has them.",
        "type": "object",
        "additionalProperties": False,
        "properties": fields,
    }


def _shape(field: Mapping[str, Any], defined: Mapping[str, Any]) -> dict[str, object]:
    """Return the JSON Schema of a value; null is not allowed, an unset value is omitted."""
    (shape,) = (each for each in field.get("anyOf", [field]) if each.get("type") != "null")
    found = {key: shape[key] for key in _SHAPE if key in shape}
    if shape.get("type") == "object":
        inner = _shape(shape["additionalProperties"], defined)
        found["additionalProperties"] = inner
        if names := shape.get("propertyNames"):
            keys = "|".join(_resolved({"$defs": defined}, names)["enum"])
            found |= {"patternProperties": {f"^({keys})$": inner}, "additionalProperties": False}
    return found


def value_parts(schema: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables of the README: release values, shared values and values of each part."""
    keys = [key for key in values if "autoscaling" in _properties(schema, key)]
    release = [key for key in values if key not in keys]
    shared = [
        name
        for name in _properties(schema, keys[0])
        if all(name in _properties(schema, key) for key in keys)
    ]
    return {
        "values": table(_COLUMNS, _rows(schema, schema, values, release)),
        "every part": table(_COLUMNS, _shared_rows(schema, values, keys, shared)),
        "parts": table(_COLUMNS, _own_rows(schema, values, keys, shared)),
    }


def _properties(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = schema["properties"][key].get("properties", {})
    return properties


def _rows(
    schema: Mapping[str, Any],
    parent: Mapping[str, Any],
    values: Mapping[str, Any],
    names: Sequence[str],
    before: str = "",
) -> Iterator[list[str]]:
    for name in names:
        node, path = _resolved(schema, parent["properties"][name]), f"{before}{name}"
        if node.get("properties") and name not in ("settings", "resources"):
            yield [f"`{path}`", plain(node["description"]), ""]
            inner = list(node["properties"])
            yield from _rows(schema, node, values[name], inner, f"{path}.")
        else:
            yield [f"`{path}`", plain(node["description"]), _default(values[name])]


def _shared_rows(
    schema: Mapping[str, Any],
    values: Mapping[str, Any],
    keys: Sequence[str],
    shared: Sequence[str],
) -> Iterator[list[str]]:
    tables = [list(_rows(schema, schema["properties"][k], values[k], shared)) for k in keys]
    for rows in zip(*tables, strict=True):
        (path, description, default), *others = rows
        same = all(row[2] == default for row in others)
        yield [path, description, default if same else "differs by part"]


def _own_rows(
    schema: Mapping[str, Any],
    values: Mapping[str, Any],
    keys: Sequence[str],
    shared: Sequence[str],
) -> Iterator[list[str]]:
    for key in keys:
        node = schema["properties"][key]
        yield [f"`{key}`", plain(node["description"]), ""]
        own = [name for name in node["properties"] if name not in shared]
        yield from _rows(schema, node, values[key], own, f"{key}.")
        for name in ("image", "resources"):
            if values[key][name]:
                yield [f"`{key}.{name}`", "As for every part.", _default(values[key][name])]


def _resolved(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the node, or the definition that it refers to."""
    if "$ref" not in node:
        return node
    found: Mapping[str, Any] = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return found


def _default(value: object) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"
