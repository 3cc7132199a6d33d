import subprocess
import sys

import pytest

from scaar.core.errors import CapabilityMissing
from scaar.evaluator.measures.libraries import needs

HEAVY = ("nltk", "rouge_score", "sacrebleu")


def test_no_library_is_loaded_before_it_is_measured_by() -> None:
    message = (
        "import sys; from scaar.evaluator.measures import MEASURES; "
        "MEASURES['f1']('Ann', ['Ann']); "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", message],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_a_missing_library_is_reported_with_its_extra() -> None:
    with (
        pytest.raises(CapabilityMissing, match=r"needs nothing: install scaar\[evaluator\]"),
        needs("nothing"),
    ):
        import no_such_library  # type: ignore[import-not-found]  # noqa: F401
