"""Ten questions through clients of OpenAI's interface: the answers of ``scaar ask``."""

import json
import subprocess
from pathlib import Path

import yaml

from scaar.client import open_sync_client
from scaar.compose import LAB_SEED
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world
from scaar.testing.lab_installation import LabInstallation

QUESTIONS = 10

LM_EVAL_TASK = {
    "task": "scaar_lab",
    "dataset_path": "json",
    "output_type": "generate_until",
    "test_split": "test",
    "doc_to_text": "{{question}}",
    "doc_to_target": "{{answer}}",
    "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 512, "temperature": 0.0},
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}
LITELLM = """
import json, sys, litellm
for line in sys.stdin:
    completion = litellm.completion(
        model="openai/scaar",
        api_base=f"http://{sys.argv[1]}/v1",
        api_key="unused",
        messages=[{"role": "user", "content": json.loads(line)}],
    )
    print(json.dumps(completion.choices[0].message.content), flush=True)
"""


def questions() -> list[str]:
    drawn = draw_questions(build_world(LAB_SEED), count=QUESTIONS)
    return [each.question for each in drawn]


def answers_of(target: str) -> list[str]:
    with open_sync_client(target) as client:
        return [client.answer(each).text.strip() for each in questions()]


def test_lm_eval_gets_the_answers_of_the_orchestrator(
    gateway: str, lab: LabInstallation, python: str, tmp_path: Path
) -> None:
    data = tmp_path / "questions.jsonl"
    data.write_text("".join(json.dumps({"question": q, "answer": "x"}) + "\n" for q in questions()))
    task = {**LM_EVAL_TASK, "dataset_kwargs": {"data_files": {"test": str(data)}}}
    (tmp_path / "scaar_lab.yaml").write_text(yaml.safe_dump(task))
    model = f"model=scaar,base_url=http://{gateway}/v1/chat/completions,num_concurrent=2"
    command = [str(Path(python).with_name("lm-eval")), "run", "--model", "local-chat-completions"]
    command += ["--model_args", f"{model},tokenizer_backend=None", "--apply_chat_template"]
    command += ["--tasks", "scaar_lab", "--include_path", str(tmp_path), "--log_samples"]
    command += ["--output_path", str(tmp_path / "out")]
    subprocess.run(command, check=True, timeout=600, cwd=tmp_path)
    (samples,) = (tmp_path / "out").rglob("samples_*.jsonl")
    found = [json.loads(line) for line in samples.read_text().splitlines()]
    written = {each["doc"]["question"]: each["resps"][0][0] for each in found}
    assert [written[each] for each in questions()] == answers_of(lab.target)


def test_litellm_gets_the_answers_of_the_orchestrator(
    gateway: str, lab: LabInstallation, python: str
) -> None:
    asked = "".join(f"{json.dumps(each)}\n" for each in questions())
    done = subprocess.run(
        [python, "-c", LITELLM, gateway],
        input=asked,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('"')]
    assert found == answers_of(lab.target)
