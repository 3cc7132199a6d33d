"""Strict schemas of the objects of Kubernetes and the operators: no unknown fields."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from .rendering import KUBERNETES, Object
from .tools import CUSTOM_KINDS, custom_kind

_STRICT = f"kubernetes-json-schema/v{KUBERNETES}-local-strict"


def faults(of: Object) -> list[str]:
    """Return the errors of an object, each with its path."""
    found = _validator(of["apiVersion"], of["kind"]).iter_errors(of)
    return [f"{'.'.join(map(str, each.path))}: {each.message}" for each in found]


@cache
def _validator(version: str, kind: str) -> Draft202012Validator:
    if kind in CUSTOM_KINDS:
        return Draft202012Validator(_strict(_custom(version, kind)))
    folder = files("kubernetes_validate").joinpath(_STRICT)
    group, _, number = version.rpartition("/")
    short = "-".join(filter(None, (group.split(".")[0], number)))
    schema = json.loads(folder.joinpath(f"{kind.lower()}-{short}.json").read_text())
    definitions = json.loads(folder.joinpath("_definitions.json").read_text())
    known = [Resource.from_contents(each) for each in (schema, definitions)]
    return Draft202012Validator(schema, registry=known @ Registry())


def _custom(version: str, kind: str) -> dict[str, Any]:
    spec = custom_kind(kind)["spec"]
    served = [each for each in spec["versions"] if f"{spec['group']}/{each['name']}" == version]
    (schema,) = [each["schema"]["openAPIV3Schema"] for each in served]
    assert isinstance(schema, dict)
    # Their fields are those of Kubernetes.
    schema["properties"]["metadata"]["x-kubernetes-preserve-unknown-fields"] = True
    return schema


def _strict(node: Any) -> Any:
    """Return the schema without unknown fields, which Kubernetes would drop silently."""
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    strict = {key: _strict(each) for key, each in node.items() if key != "description"}
    if node.get("x-kubernetes-int-or-string"):
        strict.pop("type", None)
    if (
        isinstance(node.get("properties"), dict)
        and node.get("type") == "object"
        and "additionalProperties" not in node
        and not node.get("x-kubernetes-preserve-unknown-fields")
    ):
        strict["additionalProperties"] = False
    return strict
