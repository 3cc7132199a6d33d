from pathlib import Path

import pytest

from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.proxy_json import proxy_to_json
from scaar.core.gates.word_statistics import WordStatistics
from scaar.orchestrator.gate_file import read_gate

PROXY = GateProxy("lm", "", WordStatistics("a list", {"who": 0.5}, 0.1), 0.0, (1.0, 2.0, 3.0), 0.5)


def test_no_file_is_no_gate_and_a_file_is_the_gate_in_it(tmp_path: Path) -> None:
    assert read_gate(None) is None
    path = tmp_path / "gate.json"
    path.write_bytes(proxy_to_json(PROXY, learned_from={}))
    read = read_gate(path)
    assert read is not None
    assert (read.weights, read.threshold) == ((1.0, 2.0, 3.0), 0.5)


def test_a_file_that_is_not_there_or_is_none_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"gate_file .*gate\.json cannot be read: No such file"):
        read_gate(tmp_path / "gate.json")
    (tmp_path / "gate.json").write_text("[]")
    with pytest.raises(DataCorrupt, match=r"gate\.json: must be a JSON object"):
        read_gate(tmp_path / "gate.json")
