import re

from scaar.testing.commands import run_scaar

MEAN = re.compile(r"(\d+\.\d+) \[(\d+\.\d+), (\d+\.\d+)\]")


def test_the_table_has_a_row_a_split_with_means_in_their_intervals() -> None:
    policies = ("--policy", "no_retrieval", "--policy", "ircot")
    ran = run_scaar("lab", "evaluate", "--count", "8", *policies)
    assert ran.status == 0
    _, _, *rows = ran.out.splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [(row[0], row[2], row[3]) for row in cells] == [
        (policy, split, count)
        for policy in ("no_retrieval", "ircot")
        for split, count in (("head", "4"), ("tail", "4"), ("all", "8"))
    ]
    for row in cells:
        for cell in row[4:7]:
            found = MEAN.fullmatch(cell)
            assert found is not None
            mean, low, high = map(float, found.groups())
            assert low <= mean <= high
    assert [row[6][:4] for row in cells[:3]] == ["0.00"] * 3
    assert all(float(row[6][:4]) >= 1 for row in cells[3:])


def test_a_count_without_a_question_a_split_is_refused() -> None:
    ran = run_scaar("lab", "evaluate", "--count", "1")
    assert (ran.status, ran.out) == (2, "")
    assert "--count: must be at least 2, not 1" in ran.err


def test_an_unknown_policy_is_refused_before_anything_is_loaded() -> None:
    ran = run_scaar("lab", "evaluate", "--policy", "maybe")
    assert ran.status == 2
    assert "there is no policy 'maybe'" in ran.err
    assert ran.out == ""
