from pathlib import Path

import pytest

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.core.gates.adaptive_rag import AdaptiveRag, Sufficiency, adaptive_rag_to_json
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.proxy_json import proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.policies.artefact_json import artefact_to_json
from scaar.core.types import PolicyRequest
from scaar.orchestrator.settings import OrchestratorSettings, read_artefact
from scaar.testing.artefacts import artefact_of

PROXY = GateProxy("lm", "", WordStatistics("a list", {"who": 0.5}, 0.1), 0.0, (1.0, 2.0, 3.0), 0.5)


def test_the_gate_is_read_from_its_file_if_there_is_one(tmp_path: Path) -> None:
    assert OrchestratorSettings().read_gate() is None
    path = tmp_path / "gate.json"
    path.write_bytes(proxy_to_json(PROXY, learned_from={}))
    read = OrchestratorSettings(gate_file=path).read_gate()
    assert isinstance(read, GateProxy)
    assert (read.weights, read.threshold) == ((1.0, 2.0, 3.0), 0.5)


def test_a_missing_or_invalid_gate_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"gate\.json cannot be read: No such file"):
        OrchestratorSettings(gate_file=tmp_path / "gate.json").read_gate()
    (tmp_path / "gate.json").write_text("[]")
    with pytest.raises(DataCorrupt, match=r"gate\.json: must be a JSON object"):
        OrchestratorSettings(gate_file=tmp_path / "gate.json").read_gate()


def test_a_router_to_an_unknown_policy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    router = AdaptiveRag("lm", "", ("no_retrieval", "guess"), (Sufficiency(0.0, {}),))
    path.write_bytes(adaptive_rag_to_json(router, learned_from={}))
    with pytest.raises(DataCorrupt, match=r"gate\.json: policies: there is no policy 'guess'"):
        OrchestratorSettings(gate_file=path).read_gate()


def test_tuned_policies_are_read_from_their_folder(tmp_path: Path) -> None:
    assert len(OrchestratorSettings().read_policies()) == 0
    one, other, third = (artefact_of(name) for name in ("one", "other", "third"))
    (tmp_path / "a.json").write_bytes(artefact_to_json(one))
    (tmp_path / "b.json").write_bytes(artefact_to_json(other))
    (tmp_path / "notes.txt").write_text("no artefact")
    settings = OrchestratorSettings(policy_folder=tmp_path, default_policy="other")
    policies = settings.read_policies([third])
    assert list(policies.values()) == [one, other, third]
    assert policies.resolve(PolicyRequest("")).artefact == "other"


def test_every_invalid_artefact_of_the_folder_is_named(tmp_path: Path) -> None:
    content = artefact_to_json(artefact_of("one"))
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_bytes(content)
    (tmp_path / "c.json").write_bytes(content.replace(b"0.42", b"0.43"))
    (tmp_path / "d.json").write_text("[]")
    with pytest.raises(InvalidRequest) as caught:
        OrchestratorSettings(policy_folder=tmp_path).read_policies()
    assert {each.field for each in caught.value.violations} == {"policy_folder"}
    changed, no_object, twice = (each.description for each in caught.value.violations)
    assert changed.startswith(f"{tmp_path / 'c.json'}: digest: is ")
    assert no_object == f"{tmp_path / 'd.json'}: must be a JSON object"
    assert twice == f"{tmp_path / 'b.json'}: another artefact has the name one"


def test_an_invalid_default_and_an_invalid_shadow_policy_are_reported_together() -> None:
    settings = OrchestratorSettings(default_policy="guess", shadow_policy="no_retrieval")
    with pytest.raises(InvalidRequest) as caught:
        settings.read_policies()
    default, shadow = caught.value.violations
    assert (default.field, shadow.field) == ("default_policy", "shadow_policy")
    assert shadow.description == "no_retrieval judges no drafts"


def test_a_missing_folder_and_an_unknown_default_policy_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"^policy_folder: .*missing cannot be read: No such"):
        OrchestratorSettings(policy_folder=tmp_path / "missing").read_policies()
    with pytest.raises(InvalidRequest, match="^default_policy: there is no policy 'guess'"):
        OrchestratorSettings(default_policy="guess").read_policies()
    with pytest.raises(NotFound, match=r"policy\.json cannot be read: No such file"):
        read_artefact(tmp_path / "policy.json")
