from scaar.core.types import PolicyRequest
from scaar.evaluator.planning.work import plan_work, remaining_work
from scaar.evaluator.records import Question, Setting

SETTINGS = tuple(Setting(name, PolicyRequest(name)) for name in ("flare", "scaar"))
QUESTIONS = tuple(Question(name, "Who?", ("Nobody",), name) for name in ("a", "b"))


def test_every_question_is_planned_at_every_setting_before_the_next() -> None:
    assert [work.key for work in plan_work(SETTINGS, QUESTIONS)] == [
        ("flare", "a"),
        ("scaar", "a"),
        ("flare", "b"),
        ("scaar", "b"),
    ]


def test_known_predictions_are_not_made_again() -> None:
    known = {("flare", "a"): False, ("scaar", "a"): True}
    plan = tuple(plan_work(SETTINGS, QUESTIONS))
    assert remaining_work(plan, known) == plan[2:]
