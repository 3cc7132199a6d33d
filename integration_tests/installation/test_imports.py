"""The tests know of scaar what any client knows: the stubs of its contract."""

import ast
from pathlib import Path

HERE = Path(__file__).parent


def imported(module: Path) -> set[str]:
    """The modules of scaar that a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module or "")
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return {each for each in found if each.partition(".")[0] == "scaar"}


def test_nothing_of_scaar_is_imported_but_the_stubs() -> None:
    modules = sorted(HERE.glob("*.py"))
    assert modules
    for module in modules:
        assert {each for each in imported(module) if not each.startswith("scaar.v1.")} == set()
