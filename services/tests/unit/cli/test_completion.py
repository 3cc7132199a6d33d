import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scaar.cli.completion import (
    complete_gate,
    complete_index,
    complete_indexes,
    complete_policies,
    complete_policy,
    complete_query,
    complete_setting,
    complete_trigger,
)
from scaar.core.gates import GATES
from scaar.core.policies import PRESETS
from scaar.core.policies.settings import SETTINGS
from scaar.core.queries import FORMULATIONS
from scaar.core.triggers import TRIGGERS
from scaar.testing.commands import run_scaar

pytestmark = pytest.mark.slow


def test_policies_and_their_parts_are_completed() -> None:
    assert complete_policy("dra") == ["dragin", "dragin_reference"]
    assert complete_policy("") == list(PRESETS)
    assert complete_policies("scaar,fixed_l") == ["scaar,fixed_length"]
    assert "scaar,scaar" not in complete_policies("scaar,")
    assert complete_trigger("") == list(TRIGGERS)
    assert complete_query("") == list(FORMULATIONS)
    assert complete_gate("") == list(GATES)


def test_settings_and_their_values_are_completed() -> None:
    def completed(text: str) -> list[str]:
        return [value for value, _ in complete_setting(text)]

    assert completed("the") == ["theta=", "theta_cap="]
    assert completed("granularity=") == ["granularity=word", "granularity=token"]
    assert completed("include_question=t") == ["include_question=true"]
    assert completed("theta=") == completed("nothing=") == []
    assert dict(complete_setting("to")) == {
        f"{name}=": SETTINGS[name].meaning for name in ("top_words", "top_k")
    }


def test_indexes_of_this_machine_are_completed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert complete_index("") == []
    corpus = tmp_path / "passages.jsonl"
    corpus.write_text(json.dumps({"id": "a", "text": "Etna is a volcano."}))
    for name in ("geo", "glaciers"):
        assert run_scaar("index", "build", name, "--corpus", str(corpus)).status == 0
    assert complete_index("g") == ["geo", "glaciers"]
    assert complete_index("gl") == ["glaciers"]
    assert complete_indexes("geo,g") == ["geo,glaciers"]
    monkeypatch.setenv("SCAAR_RETRIEVER_K1", "many")
    assert complete_index("") == []


def test_completion_makes_no_call_to_a_server(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_ENGINE", "opensearch")
    monkeypatch.setenv("SCAAR_RETRIEVER_OPENSEARCH_URLS", '["http://127.0.0.1:1"]')
    assert complete_index("") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("scaar ask x --policy dragin_", "dragin_reference"),
        ("scaar eval run --policies flare_", "flare_reference"),
        ("scaar ask x --trigger rind_", "rind_reference"),
        ("scaar ask x --query pf", "pfq"),
        ("scaar eval run --gate ge", "gece_proxy"),
        ("scaar eval run --dataset hot", "hotpotqa"),
        ("scaar eval ablate thr", "threshold"),
        ("scaar ask x --set window", "window_tokens="),
    ],
)
def test_a_shell_gets_the_completions(home: Path, line: str, expected: str) -> None:
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.argv = ['scaar']; import scaar.cli.main as m; m.main()",
        ],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "_SCAAR_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
        },
        capture_output=True,
        check=False,
        text=True,
    )
    assert ran.stdout.split() == [expected], ran.stderr
