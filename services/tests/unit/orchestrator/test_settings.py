from pathlib import Path

import pytest

from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.proxy_json import proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.orchestrator.settings import OrchestratorSettings

PROXY = GateProxy("lm", "", WordStatistics("a list", {"who": 0.5}, 0.1), 0.0, (1.0, 2.0, 3.0), 0.5)


def test_the_gate_is_read_from_its_file_if_there_is_one(tmp_path: Path) -> None:
    assert OrchestratorSettings().read_gate() is None
    path = tmp_path / "gate.json"
    path.write_bytes(proxy_to_json(PROXY, learned_from={}))
    read = OrchestratorSettings(gate_file=path).read_gate()
    assert read is not None
    assert (read.weights, read.threshold) == ((1.0, 2.0, 3.0), 0.5)


def test_a_missing_or_invalid_gate_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"gate_file .*gate\.json cannot be read: No such file"):
        OrchestratorSettings(gate_file=tmp_path / "gate.json").read_gate()
    (tmp_path / "gate.json").write_text("[]")
    with pytest.raises(DataCorrupt, match=r"gate\.json: must be a JSON object"):
        OrchestratorSettings(gate_file=tmp_path / "gate.json").read_gate()
