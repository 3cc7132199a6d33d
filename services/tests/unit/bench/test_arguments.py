"""What ``make bench`` is asked for is checked before anything is measured."""

import pytest

from bench.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["everything"], "there is no part 'everything'; the parts are embedded, grpc"),
        (["--rounds", "0"], "--rounds: must be a whole number of 1 to 100000, not 0"),
        (["--questions", "1e3"], "--questions: must be a whole number of 1 to 100000, not 1e3"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_can(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["bench", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
