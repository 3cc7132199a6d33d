"""Every data set is read from its official layout, of which a fixture has ten invented rows."""

import gzip
import json
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.loader import DataSet, open_dataset
from scaar.evaluator.records import Question
from scaar.lab.questions import Kind

FIXTURES = Path(__file__).parent / "fixtures"


def opened(name: str, file: str) -> DataSet:
    return open_dataset(name, FIXTURES / file)


@pytest.mark.parametrize(
    ("name", "file", "questions"),
    [
        ("2wikimultihopqa", "2wikimultihopqa.json", 10),
        ("hotpotqa", "hotpotqa.json", 10),
        ("hotpotqa", "hotpotqa_hf.jsonl", 10),
        ("iirc", "iirc.json", 8),
        ("strategyqa", "strategyqa.json", 10),
        ("strategyqa", "strategyqa_big_bench.json", 10),
        ("strategyqa", "strategyqa_big_bench_hf.jsonl", 10),
        ("nq", "nq.jsonl", 10),
        ("triviaqa", "triviaqa.json", 10),
        ("popqa", "popqa.tsv", 10),
        ("mmlu", "mmlu", 10),
        ("mmlu", "mmlu/invented_history_test.csv", 5),
        ("mmlu", "mmlu.jsonl", 10),
        ("musique", "musique.jsonl", 10),
        ("bamboogle", "bamboogle.csv", 10),
        ("retrievalqa", "retrievalqa.jsonl", 10),
        ("flashrag", "flashrag.jsonl", 10),
        ("jsonl", "jsonl.jsonl", 10),
    ],
)
def test_a_fixture_is_read_whole(name: str, file: str, questions: int) -> None:
    found = opened(name, file).questions
    assert len(found) == questions
    assert len({question.id for question in found}) == questions
    for question in found:
        assert question.question == question.question.strip() != ""
        assert question.entity
        assert all(answer == answer.strip() != "" for answer in question.answers)


def test_hotpotqa_has_type_level_and_the_titles_of_its_supports() -> None:
    assert opened("hotpotqa", "hotpotqa.json").questions[2] == Question(
        id="5a0000000000000000003dde",
        question="Were Ilse Brandau and Caspar Lindqvar directors from the same country?",
        answers=("no",),
        entity="5a0000000000000000003dde",
        labels=(("type", "comparison"), ("level", "hard")),
        supports=("Ilse Brandau", "Caspar Lindqvar"),
    )


def test_hotpotqa_of_hugging_face_is_the_same_questions() -> None:
    official = opened("hotpotqa", "hotpotqa.json").questions
    assert opened("hotpotqa", "hotpotqa_hf.jsonl").questions == official


def test_2wikimultihopqa_takes_aliases_and_demonyms_of_the_answer_from_the_file_beside_it() -> None:
    questions = opened("2wikimultihopqa", "2wikimultihopqa.json").questions
    assert questions[2] == Question(
        id="02aa87f00bdd11eba7f7acde48001102",
        question="Which country is the birthplace of Ilse Brandau in?",
        answers=("Marland", "Republic of Marland", "Marlander"),
        entity="Q802",
        labels=(("type", "inference"),),
        supports=("Ilse Brandau",),
    )
    assert questions[1].answers == ("yes",)


def test_2wikimultihopqa_without_aliases_has_the_official_answers(tmp_path: Path) -> None:
    alone = tmp_path / "dev.json"
    alone.write_bytes((FIXTURES / "2wikimultihopqa.json").read_bytes())
    assert open_dataset("2wikimultihopqa", alone).questions[2].answers == ("Marland",)
    aliases = FIXTURES / "id_aliases.json"
    named = open_dataset("2wikimultihopqa", alone, aliases=aliases).questions
    assert named == opened("2wikimultihopqa", "2wikimultihopqa.json").questions


def test_iirc_has_spans_values_and_verdicts_and_leaves_out_what_nothing_answers() -> None:
    dataset = opened("iirc", "iirc.json")
    answers = {question.labels[0][1]: question.answers for question in dataset.questions[:3]}
    assert answers == {
        "span": ("Nordland, Sudland",),
        "value": ("12 years", "12"),
        "binary": ("yes",),
    }
    assert dataset.left_out == {"has no answer": 2}
    assert dataset.questions[0].entity == "Mirja Holt"
    assert dataset.questions[0].supports == ("Mirja Holt", "Norrevik")


def test_strategyqa_is_yes_or_no_about_its_term() -> None:
    first, second, *_ = opened("strategyqa", "strategyqa.json").questions
    assert (first.answers, first.entity) == (("no",), "Glass Orchard")
    assert (second.answers, second.entity) == (("yes",), "Norrevik")


@pytest.mark.parametrize("file", ["strategyqa_big_bench.json", "strategyqa_big_bench_hf.jsonl"])
def test_strategyqa_of_big_bench_is_the_same_questions_without_their_ids(file: str) -> None:
    official = opened("strategyqa", "strategyqa.json").questions
    questions = opened("strategyqa", file).questions
    assert [(each.question, each.answers) for each in questions] == [
        (each.question, each.answers) for each in official
    ]
    assert questions[0].id == questions[0].entity == "strategyqa-1"


def test_nq_numbers_its_questions_which_have_no_ids() -> None:
    second = opened("nq", "nq.jsonl").questions[1]
    assert (second.id, second.answers) == ("nq-2", ("Torvin Maack", "Maack"))


def test_triviaqa_has_the_value_first_then_every_alias_once() -> None:
    first = opened("triviaqa", "triviaqa.json").questions[0]
    assert first.id == "xx_0"
    assert first.answers == ("Ostermoor", "Ostermoor (town)", "ostermoor", "ostermoor town")


def test_popqa_is_labelled_by_relation_and_by_the_power_of_ten_of_its_views() -> None:
    questions = opened("popqa", "popqa.tsv").questions
    assert [dict(question.labels)["popularity"] for question in questions] == [
        *("10^0", "10^1", "10^1", "10^2", "10^2", "10^2", "10^3", "10^3", "10^4", "0")
    ]
    assert dict(questions[0].labels)["kind"] == "place of birth"
    assert questions[0].entity == "Ansa Velder"
    assert questions[0].answers == ("Ostermoor", "Free Town of Ostermoor")


def test_mmlu_asks_with_its_choices_and_is_answered_by_a_letter() -> None:
    question = opened("mmlu", "mmlu").questions[3]
    assert question == Question(
        id="abstract_algebra_test-4",
        question='What is the order of 2 in Z_6, "the clock of six"? (A) 2 (B) 3 (C) 4 (D) 6',
        answers=("B",),
        entity="abstract_algebra_test-4",
        labels=(("subject", "abstract_algebra"),),
        choices=("2", "3", "4", "6"),
    )


def test_mmlu_as_json_lines_is_the_same_questions() -> None:
    def ask(file: str) -> list[tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]]:
        questions = opened("mmlu", file).questions
        return [(each.question, each.answers, each.labels) for each in questions]

    assert ask("mmlu.jsonl") == ask("mmlu")


def test_musique_accepts_aliases_and_leaves_out_the_unanswerable_copy_of_a_question() -> None:
    dataset = opened("musique", "musique.jsonl")
    first = dataset.questions[0]
    assert (first.id, first.labels) == ("2hop__1000_2000", (("type", "2hop"),))
    assert first.answers == ("Ostermoor", "Town of Ostermoor")
    assert [support.rpartition(" ")[0] for support in first.supports] == [
        "The Glass Orchard",
        "Ansa Velder",
    ]
    assert dataset.left_out == {"has no answer": 1}


def test_retrievalqa_is_labelled_by_its_source_and_by_the_need_of_retrieval(
    tmp_path: Path,
) -> None:
    questions = opened("retrievalqa", "retrievalqa.jsonl").questions
    assert questions[0].labels == (("source", "realtimeqa"), ("retrieval", "needed"))
    assert questions[5].labels == (("source", "realtimeqa"), ("retrieval", "not needed"))
    text = (FIXTURES / "retrievalqa.jsonl").read_text()
    earlier = tmp_path / "retrievalqa_gpt4.jsonl"
    earlier.write_text(text.replace('"param_knowledge_answerable"', '"prompt_token_num"'))
    assert open_dataset("retrievalqa", earlier).questions[0].labels == (("source", "realtimeqa"),)


def test_bamboogle_numbers_its_questions_which_have_no_ids() -> None:
    first = opened("bamboogle", "bamboogle.csv").questions[0]
    assert (first.id, first.answers) == ("bamboogle-1", ("Ostermoor",))
    assert first.question == "In which town was the director of The Glass Orchard born?"


def test_flashrag_has_supports_choices_by_position_and_leaves_out_what_has_no_answer() -> None:
    dataset = opened("flashrag", "flashrag.jsonl")
    first, *_, chosen, counted, judged = dataset.questions
    assert first == Question(
        id="dev_0",
        question="In which town was the director of The Glass Orchard born?",
        answers=("Ostermoor",),
        entity="dev_0",
        labels=(("type", "bridge"), ("level", "easy")),
        supports=("The Glass Orchard", "Ansa Velder"),
    )
    assert chosen.question == "Which town is on the bay? (A) Karsund (B) Quintal Bay (C) Karsund"
    assert chosen.answers == ("B",)
    assert (counted.answers, judged.answers) == (("12", "twelve"), ("True",))
    assert dataset.left_out == {"has no answer": 1}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"golden_answers": "Ann"}, "golden_answers: must be a list, not 'Ann'"),
        ({"golden_answers": [["Ann"]]}, "golden_answers: must be a list of strings, not of ['Ann"),
        ({"golden_answers": [" "]}, "golden_answers: must have at least one string that is not"),
        ({"metadata": []}, None),
        ({"metadata": "type"}, "metadata: must be an object, not 'type'"),
        ({"choices": ["one", 2]}, "choices: must be 2 to 26 strings that are not empty, not 2"),
        (
            {"choices": ["one", "two"]},
            "golden_answers: must be positions of choices, 0 to 1, not 'Ann'",
        ),
        (
            {"choices": ["one", "two"], "golden_answers": [2]},
            "golden_answers: must be positions of choices, 0 to 1, not 2",
        ),
    ],
)
def test_a_wrong_field_of_flashrags_layout_is_named(
    change: dict[str, object], expected: str | None, tmp_path: Path
) -> None:
    record = {"id": "test_0", "question": "Who?", "golden_answers": ["Ann"], **change}
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps(record))
    if expected is None:
        assert open_dataset("flashrag", path).questions
        return
    with pytest.raises(InvalidRequest) as caught:
        open_dataset("flashrag", path)
    assert caught.value.message.startswith(f"test.jsonl record 1, {expected}")


def test_questions_of_ones_own_may_have_entity_labels_supports_and_choices() -> None:
    questions = opened("jsonl", "jsonl.jsonl").questions
    assert questions[1].entity == "Torvin Maack"
    assert questions[1].labels == (("kind", "birthplace"), ("century", "20"))
    assert questions[1].supports == ("Torvin Maack",)
    last = questions[9]
    assert last.question == "Which town is on the bay? (A) Karsund (B) Quintal Bay (C) Ashtorn"
    assert (last.id, last.answers) == ("9", ("B",))


def test_a_packed_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    packed = tmp_path / "nq.jsonl.gz"
    packed.write_bytes(gzip.compress((FIXTURES / "nq.jsonl").read_bytes()))
    assert open_dataset("nq", packed).questions == opened("nq", "nq.jsonl").questions


def test_the_labs_questions_are_drawn_by_seed_and_count() -> None:
    drawn = open_dataset("lab", seed=2001, count=20).questions
    assert drawn == open_dataset("lab", seed=2001, count=20).questions
    assert drawn != open_dataset("lab", seed=2002, count=20).questions
    assert {dict(question.labels)["popularity"] for question in drawn} == {"head", "tail"}
    assert {dict(question.labels)["kind"] for question in drawn} <= {kind.value for kind in Kind}
    films = {question.id: [int(each[-4:]) for each in question.supports] for question in drawn}
    assert all(question.entity == f"film-{films[question.id][0]:04d}" for question in drawn)
    ranks = {
        "1 to 50": (0, 50),
        "51 to 200": (50, 200),
        "201 to 800": (200, 800),
        "tail": (800, 1600),
    }
    for question in drawn:
        lowest, above = ranks[dict(question.labels)["rank"]]
        assert lowest <= max(films[question.id]) < above


def test_the_labs_questions_ask_for_plain_words_at_the_rate_that_is_left() -> None:
    assert all(
        question.question.endswith("plainly.")
        for question in open_dataset("lab", count=20, style=0.0).questions
    )
    assert open_dataset("lab", count=20, style=1.0) == open_dataset("lab", count=20)
    with pytest.raises(InvalidRequest, match=r"style: must be 0 to 1, not 1\.5"):
        open_dataset("lab", style=1.5)
    with pytest.raises(InvalidRequest, match=r"style: is not taken by the data set nq"):
        open_dataset("nq", FIXTURES / "nq.jsonl", style=0.5)


def test_a_name_of_a_label_is_one_line_of_valid_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    labels = {"kind\ud800 of\nplace": "b"}
    path.write_text(json.dumps({"id": "1", "question": "Who?", "answers": ["x"], "labels": labels}))
    (question,) = open_dataset("jsonl", path).questions
    assert question.labels == (("kind of place", "b"),)


def test_a_name_of_a_label_has_a_maximum_length(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    record = {"id": "1", "question": "Who?", "answers": ["x"], "labels": {"k" * 129: "b"}}
    path.write_text(json.dumps(record))
    limit = "record 1, labels: a name must have at most 128 characters, not 129"
    with pytest.raises(InvalidRequest, match=limit):
        open_dataset("jsonl", path)
