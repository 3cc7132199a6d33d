"""Servers of models as parts of the release, or as ones that are there."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scaar.model_store.wanted import parse_wanted

from .rendering import Object, Rendered, render
from .scenarios import SCENARIOS, Scenario


def container(release: Rendered, name: str) -> Object:
    (found,) = release.pod(name)["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def test_the_default_values_need_no_gpu_and_no_external_service() -> None:
    for name in ("as it comes", "lab"):
        release = SCENARIOS[name].rendered()
        assert "nvidia.com/gpu" not in str(release.objects)
        images = {one["image"] for _, pod in release.pods() for one in pod["spec"]["containers"]}
        assert all(image.startswith("scaar/") for image in images)


def test_the_lab_has_its_model_behind_tgis_interface() -> None:
    release = SCENARIOS["lab"].rendered()
    assert container(release, "lab-model")["args"] == ["lab", "tgi", "--address=0.0.0.0:8080"]
    slower = render({"labModel": {"args": ["--pace-ms=30"]}}, preset="lab")
    assert container(slower, "lab-model")["args"][-1] == "--pace-ms=30"
    found = release.environment("generator")
    assert found["SCAAR_GENERATOR_ENGINE"] == "tgi"
    assert found["SCAAR_GENERATOR_URL"].startswith("http://films-scaar-lab-model.")
    assert found["SCAAR_GENERATOR_PROMPT_PROFILE"] == "lab"


@pytest.mark.parametrize(
    ("scenario", "name", "flag", "engine"),
    [
        ("TGI", "tgi", "--model-id=a/model", "tgi"),
        ("vLLM", "vllm", "--model=a/model", "openai"),
    ],
)
def test_a_language_model_on_gpus(scenario: str, name: str, flag: str, engine: str) -> None:
    release = SCENARIOS[scenario].rendered()
    spec = release.pod(name)["spec"]
    assert spec["nodeSelector"] == {"gpu": "true"}
    assert spec["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    found = container(release, name)
    assert flag in found["args"]
    count = {"tgi": 2, "vllm": 1}[name]
    for of in ("requests", "limits"):
        assert found["resources"][of]["nvidia.com/gpu"] == count
    assert ("--num-shard=2" in found["args"]) == (name == "tgi")
    assert {"name": "shared-memory", "mountPath": "/dev/shm"} in found["volumeMounts"]
    assert found["readinessProbe"]["httpGet"] == {"path": "/health", "port": "http"}
    assert release.one("Service", name)["spec"]["ports"][0]["port"] == 8080
    generator = release.environment("generator")
    assert generator["SCAAR_GENERATOR_ENGINE"] == engine
    assert f"films-scaar-{name}." in generator["SCAAR_GENERATOR_URL"]


def test_a_generator_runs_the_gguf_file_that_it_downloads() -> None:
    release = SCENARIOS["llama.cpp"].rendered()
    assert not {"tgi", "vllm", "lab-model"} & release.names("Deployment")
    (model,) = release.pod("generator")["spec"]["initContainers"]
    found = container(release, "generator")
    variables = release.environment("generator")
    name = variables["SCAAR_GENERATOR_MODEL"]
    assert parse_wanted(model["args"][2], name).name == name
    assert model["args"] == ["models", "get", "hf:a/model/Model-Q4.gguf", "--yes", f"--name={name}"]
    assert model["image"] == found["image"]
    token, mirror = model["env"]
    assert token["valueFrom"] == {"secretKeyRef": {"name": "hub", "key": "token"}}
    assert mirror == {"name": "HF_ENDPOINT", "value": "https://mirror.example"}
    home = {"name": "home", "mountPath": "/var/lib/scaar"}
    assert home in model["volumeMounts"]
    assert home in found["volumeMounts"]
    assert "generator" in release.names("PersistentVolumeClaim")
    assert variables["SCAAR_GENERATOR_ENGINE"] == "llama_cpp"
    assert variables["SCAAR_GENERATOR_PREFIX_REUSE"] == "none"


def test_a_model_of_the_catalogue_is_named_as_it_is() -> None:
    values = {"model": "qwen2.5-1.5b-instruct", "memoryMB": 1900}
    release = render({"languageModel": {"server": "llama_cpp"}, "llamaCpp": values})
    (model,) = release.pod("generator")["spec"]["initContainers"]
    assert model["args"] == ["models", "get", "qwen2.5-1.5b-instruct", "--yes"]
    assert release.environment("generator")["SCAAR_GENERATOR_MODEL"] == "qwen2.5-1.5b-instruct"


def test_a_generator_runs_a_gguf_file_of_a_volume_and_may_load_it_for_minutes() -> None:
    release = SCENARIOS["llama.cpp of a volume"].rendered()
    spec = release.pod("generator")["spec"]
    assert "initContainers" not in spec
    found = container(release, "generator")
    variables = release.environment("generator")
    assert variables["SCAAR_GENERATOR_MODEL"] == "/models/smollm2/model.gguf"
    assert "SCAAR_GENERATOR_PREFIX_REUSE" not in variables
    assert {"name": "models", "mountPath": "/models", "readOnly": True} in found["volumeMounts"]
    volumes = {each["name"]: each for each in spec["volumes"]}
    claim = {"claimName": "models", "readOnly": True}
    assert volumes["models"]["persistentVolumeClaim"] == claim
    probe = found["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] == 900


def test_the_memory_of_llama_cpp_is_requested_with_that_of_the_service() -> None:
    release = SCENARIOS["llama.cpp of a volume"].rendered()
    # 602 MB and 256 MiB.
    assert container(release, "generator")["resources"] == {
        "requests": {"cpu": "500m", "memory": "871M"},
        "limits": {"memory": "871M"},
    }


def test_a_gpu_is_not_requested_twice_while_pods_are_replaced() -> None:
    for scenario, name in (("TGI", "tgi"), ("vLLM", "vllm"), ("Triton", "triton")):
        release = SCENARIOS[scenario].rendered()
        update = release.one("Deployment", name)["spec"]["strategy"]["rollingUpdate"]
        assert update == {"maxSurge": 0, "maxUnavailable": 1}


def test_the_hubs_token_is_the_clusters() -> None:
    found = container(SCENARIOS["vLLM"].rendered(), "vllm")
    (token,) = [each for each in found["env"] if each["name"] == "HF_TOKEN"]
    assert token["valueFrom"] == {"secretKeyRef": {"name": "hub", "key": "token"}}


def test_a_model_of_a_volume_is_not_looked_for_outside() -> None:
    release = SCENARIOS["TGI of a volume"].rendered()
    assert {"name": "HF_HUB_OFFLINE", "value": "1"} in container(release, "tgi")["env"]
    assert release.pod("tgi")["spec"]["runtimeClassName"] == "nvidia"


def test_model_caches_are_on_volumes_unless_disabled() -> None:
    assert "tgi" in SCENARIOS["TGI"].rendered().names("PersistentVolumeClaim")
    release = SCENARIOS["vLLM"].rendered()
    assert not release.of("PersistentVolumeClaim")
    volumes = {each["name"]: each for each in release.pod("vllm")["spec"]["volumes"]}
    assert volumes["cache"]["emptyDir"] == {}


def test_existing_servers_are_called_with_their_keys_and_certificates() -> None:
    release = SCENARIOS["servers that are there"].rendered()
    deployed = release.names("Deployment")
    assert not {"tgi", "vllm", "lab-model", "triton"} & deployed
    expected: dict[str, dict[str, Any]] = {
        "generator": {
            "SCAAR_GENERATOR_ENGINE": "openai",
            "SCAAR_GENERATOR_URL": "https://models.example/v1",
            "SCAAR_GENERATOR_API_KEY_FILE": "/etc/scaar/language-model/api-key",
            "SCAAR_GENERATOR_CA_FILE": "/etc/scaar/language-model-ca/ca.crt",
        },
        "scorer": {
            "SCAAR_SCORER_ENGINE": "triton",
            "SCAAR_SCORER_TRITON_TARGET": "dns:///triton.models:9001",
            "SCAAR_SCORER_TRITON_TLS": "true",
            "SCAAR_SCORER_TRITON_CA_FILE": "/etc/scaar/triton-ca/ca.crt",
            "SCAAR_SCORER_MODEL": "/models/roberta",
        },
        "retriever": {
            "SCAAR_RETRIEVER_ENGINE": "opensearch",
            "SCAAR_RETRIEVER_OPENSEARCH_URLS": (
                '["https://one.search:9200","https://two.search:9201"]'
            ),
            "SCAAR_RETRIEVER_OPENSEARCH_USER": "scaar",
            "SCAAR_RETRIEVER_OPENSEARCH_PASSWORD_FILE": "/etc/scaar/opensearch/password",
        },
        "evaluator": {
            "SCAAR_EVALUATOR_EXECUTOR": "celery",
            "SCAAR_EVALUATOR_DATABASE_FILE": "/etc/scaar/database/url",
            "SCAAR_EVALUATOR_BROKER_FILE": "/etc/scaar/broker/url",
        },
    }
    for name, variables in expected.items():
        assert variables.items() <= release.environment(name).items()


def test_workers_without_a_broker_find_shards_in_the_database() -> None:
    release = SCENARIOS["workers without a broker"].rendered()
    for name in ("evaluator", "worker"):
        environment = release.environment(name)
        assert environment["SCAAR_EVALUATOR_EXECUTOR"] == "poll"
        assert "SCAAR_EVALUATOR_BROKER_FILE" not in environment


def test_triton_is_reached_by_dns_and_its_engine_built_by_its_own_image() -> None:
    release = SCENARIOS["Triton"].rendered()
    service = release.one("Service", "triton")["spec"]
    assert service["clusterIP"] == "None"
    target = release.environment("scorer")["SCAAR_SCORER_TRITON_TARGET"]
    assert target == "dns:///films-scaar-triton.questions.svc.cluster.local:8001"
    spec = release.pod("triton")["spec"]
    repository, engine = spec["initContainers"]
    (triton,) = spec["containers"]
    assert repository["image"].startswith("scaar/scorer:")
    assert engine["image"] == triton["image"]
    assert engine["command"] == ["python3", "-m", "scaar.scorer.triton_repository"]
    assert engine["args"] == ["/work/repository", "--cache", "/engines", "--precision", "onnx"]
    assert engine["resources"] == triton["resources"]
    assert triton["resources"]["limits"]["nvidia.com/gpu"] == 1
    volumes = {each["name"]: each for each in spec["volumes"]}
    assert volumes["engines"]["persistentVolumeClaim"] == {"claimName": "films-scaar-triton"}
    assert "triton" in release.names("PersistentVolumeClaim")
    assert triton["livenessProbe"]["httpGet"]["path"] == "/v2/health/live"


def test_triton_on_cpus_needs_no_engine_and_no_gpu() -> None:
    release = SCENARIOS["Triton on CPUs"].rendered()
    spec = release.pod("triton")["spec"]
    (repository,) = spec["initContainers"]
    assert repository["args"][1:] == ["/models/roberta", "onnx", "64"]
    assert "nvidia.com/gpu" not in str(release.objects)
    assert not release.of("PersistentVolumeClaim")
    assert spec["containers"][0]["args"][-1] == "--log-info=false"


def test_a_model_is_mounted_where_it_is_read_and_not_written() -> None:
    release = SCENARIOS["Triton on CPUs"].rendered()
    for name in ("scorer", "triton"):
        volumes = {each["name"]: each for each in release.pod(name)["spec"]["volumes"]}
        claim = {"claimName": "models", "readOnly": True}
        assert volumes["models"]["persistentVolumeClaim"] == claim


def test_zero_gpus_request_none() -> None:
    values = {"languageModel": {"server": "vllm"}, "vllm": {"model": "m", "gpu": {"count": 0}}}
    assert "nvidia.com/gpu" not in str(Scenario(values).rendered().objects)


def test_the_pods_script_writes_the_files_of_the_engine_build(tmp_path: Path) -> None:
    """The script as it is, but for its folder; then the builder, with Python and nothing else."""
    repository, engine = SCENARIOS["Triton"].rendered().pod("triton")["spec"]["initContainers"]
    script, *given = repository["args"]
    subprocess.run(
        [*repository["command"], script.replace("/work/", f"{tmp_path}/"), *given],
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        check=True,
        timeout=300,
    )
    model = tmp_path / "repository" / "contribution_scorer"
    assert (model / "model.onnx").is_file()
    assert "tensorrt_plan" in (model / "config.pbtxt").read_text()
    ran = subprocess.run(
        [
            *(sys.executable, "-S", *engine["command"][1:]),
            *(each.replace("/work", str(tmp_path)) for each in engine["args"]),
        ],
        env={"PYTHONPATH": str(tmp_path / "python")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    # Here is no GPU: it comes as far as TensorRT's own program.
    assert (
        ran.stderr
        == "scaar: /usr/src/tensorrt/bin/trtexec cannot be run: No such file or directory\n"
    )


def test_a_generator_waits_for_a_server_of_the_release() -> None:
    for scenario in ("lab", "TGI", "vLLM"):
        release = SCENARIOS[scenario].rendered()
        (wait,) = release.pod("generator")["spec"]["initContainers"]
        url = release.environment("generator")["SCAAR_GENERATOR_URL"]
        assert wait["args"][1] == f"{url}/health"
        compile(wait["args"][0], "wait", "exec")
    for scenario in ("as it comes", "servers that are there"):
        spec = SCENARIOS[scenario].rendered().pod("generator")["spec"]
        assert "initContainers" not in spec
