import re

from scaar.testing.commands import run_scaar

MEAN = re.compile(r"(\d+\.\d+) \[(\d+\.\d+), (\d+\.\d+)\]")


def test_the_table_shows_what_retrieval_brings_with_means_in_their_intervals() -> None:
    policies = ("--policy", "scaar", "--policy", "no_retrieval")
    ran = run_scaar("lab", "evaluate", "--count", "40", *policies)
    assert ran.status == 0
    heading, _, *lines = ran.out.splitlines()
    names = [cell.strip() for cell in heading.strip("|").split("|")]
    rows = [
        dict(zip(names, map(str.strip, line.strip("|").split("|")), strict=True)) for line in lines
    ]
    assert [(row["policy"], row["split"], row["questions"]) for row in rows] == [
        (policy, split, count)
        for policy in ("scaar", "no_retrieval")
        for split, count in (("head", "20"), ("tail", "20"), ("all", "40"))
    ]
    means = {}
    for row in rows:
        for name in ("EM", "F1", "retrievals"):
            found = MEAN.fullmatch(row[f"{name} [95%]"])
            assert found is not None
            mean, low, high = map(float, found.groups())
            assert low <= mean <= high
            means[row["policy"], row["split"], name] = mean
    assert means["scaar", "tail", "EM"] > means["no_retrieval", "tail", "EM"]
    assert means["no_retrieval", "all", "retrievals"] == 0
    assert means["scaar", "tail", "retrievals"] >= 1


def test_a_count_without_a_question_a_split_is_refused() -> None:
    ran = run_scaar("lab", "evaluate", "--count", "1")
    assert (ran.status, ran.out) == (2, "")
    assert "--count: must be at least 2, not 1" in ran.err


def test_an_unknown_policy_is_refused_before_anything_is_loaded() -> None:
    ran = run_scaar("lab", "evaluate", "--policy", "maybe")
    assert ran.status == 2
    assert "there is no policy 'maybe'" in ran.err
    assert ran.out == ""
