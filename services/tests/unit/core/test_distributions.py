import sys

import pytest

from scaar.core.distributions import lab_is_installed, lab_required, library_required
from scaar.core.errors import CapabilityMissing
from scaar.evaluator.datasets.lab import RANKS
from scaar.lab.world import KNOWN_FILMS
from scaar.testing.commands import run_scaar


@pytest.fixture
def without_lab(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A process in which scaar-lab is not installed."""
    for name in [each for each in sys.modules if each.startswith("scaar.lab.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scaar.lab", None)
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path_factory.mktemp("home")))


def test_the_lab_is_in_place_in_a_checkout() -> None:
    assert lab_is_installed()


@pytest.mark.usefixtures("without_lab")
def test_a_missing_lab_is_an_error_that_says_what_to_install() -> None:
    assert not lab_is_installed()
    message = "^the demo needs .*: install scaar-lab$"
    with pytest.raises(CapabilityMissing, match=message), lab_required("the demo"):
        import scaar.lab.world  # noqa: F401


def test_other_missing_modules_are_not_taken_for_the_lab() -> None:
    with pytest.raises(ModuleNotFoundError, match="labyrinth"), lab_required("the demo"):
        import scaar.labyrinth  # type: ignore[import-not-found]  # noqa: F401


def test_a_missing_library_is_an_error_that_names_its_extra() -> None:
    message = r"^engine x needs nothing: install scaar\[x\]$"
    with pytest.raises(CapabilityMissing, match=message), library_required("engine x", "x"):
        import nothing.part  # type: ignore[import-not-found]  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="labyrinth"), library_required("engine x", "x"):
        import scaar.labyrinth  # noqa: F401


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("demo",), "scaar demo needs the lab's world and models: install scaar-lab"),
        (("ask", "x"), "no language model is set: set SCAAR_GENERATOR_ENGINE and"),
        (("lab", "models"), "scaar lab needs the lab's world"),
        (("lab", "world"), "scaar lab needs the lab's world"),
        (("index", "build", "x", "--lab"), "--lab needs the lab's world"),
        (("dataset", "show", "lab"), "the data set lab needs the lab's world"),
    ],
)
@pytest.mark.usefixtures("without_lab")
def test_commands_say_what_needs_the_lab(command: tuple[str, ...], message: str) -> None:
    ran = run_scaar(*command)
    assert (ran.status, ran.out) == (1, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.usefixtures("without_lab")
def test_without_the_lab_a_search_must_name_an_index() -> None:
    ran = run_scaar("search", "x")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("scaar: index: must name an index: this orchestrator has no default")


def test_the_ranks_of_films_end_with_the_known_ones() -> None:
    assert RANKS[-1] == KNOWN_FILMS
