"""Releases that all tests of the chart run on: the presets, and each option separately."""

from dataclasses import dataclass, field
from typing import Any

from .rendering import Rendered, render

SERVICES = (
    *("orchestrator", "generator", "scorer", "queryBuilder", "gateway"),
    *("retriever", "evaluator"),
)
DATABASE = {"database": {"existingSecret": "evaluations-database"}}
BROKER = {"broker": {"existingSecret": "evaluations-broker", "queueSecret": "evaluations-queue"}}
TLS = {"enabled": True, "existingSecret": "certificate"}
PROMETHEUS = {"prometheusUrl": "http://prometheus:9090"}
INGRESS = {"kubernetes.io/metadata.name": "ingress-nginx"}
GPU_NODES = {
    "nodeSelector": {"gpu": "true"},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
}


@dataclass(frozen=True)
class Scenario:
    """Values that override those of a preset."""

    values: dict[str, Any] = field(default_factory=dict)
    preset: str = ""

    def rendered(self) -> Rendered:
        return render(self.values, preset=self.preset)


def each_by(how: dict[str, Any], parts: tuple[str, ...] = SERVICES) -> dict[str, Any]:
    """Return the same autoscaling for each of these parts."""
    return {part: {"autoscaling": how} for part in parts}


SCENARIOS = {
    "as it comes": Scenario(),
    "lab": Scenario(preset="lab"),
    "production": Scenario(preset="production"),
    "query builder embedded": Scenario({"queryBuilder": {"enabled": False}}, "lab"),
    "workers without a broker": Scenario(
        {"worker": {"enabled": True}, "evaluations": DATABASE}, "lab"
    ),
    "no evaluator": Scenario({"evaluator": {"enabled": False}}, "lab"),
    "never pulled": Scenario({"image": {"pullPolicy": "Never"}}, "lab"),
    "images of one's own": Scenario(
        {
            "image": {"prefix": "registry.example/scaar/", "tag": "9", "pullSecrets": ["pull"]},
            "scorer": {"image": "registry.example/scorer@sha256:0f"},
        },
        "lab",
    ),
    "lab kept": Scenario(
        {
            "retriever": {"persistence": {"enabled": True, "storageClass": "fast"}},
            "evaluator": {"persistence": {"existingClaim": "evaluations"}},
        },
        "lab",
    ),
    "lab by TLS": Scenario({"tls": TLS, "identities": {"tokenSecret": "token"}}, "lab"),
    "TLS without clients' certificates": Scenario({"tls": {**TLS, "clientCertificates": False}}),
    "certificates of cert-manager": Scenario(
        {
            "tls": {
                "enabled": True,
                "certManager": {
                    "enabled": True,
                    "issuer": {"name": "scaar", "kind": "ClusterIssuer"},
                },
            },
            "identities": {"existingSecret": "identities"},
            "orchestrator": {
                "expose": {
                    "enabled": True,
                    "type": "LoadBalancer",
                    "names": ["answers.example.org", "*.example.net", "192.0.2.7"],
                }
            },
        },
        "lab",
    ),
    "TGI": Scenario(
        {
            "languageModel": {"server": "tgi"},
            "tgi": {"model": "a/model", "gpu": {"count": 2}, **GPU_NODES},
        }
    ),
    "TGI of a volume": Scenario(
        {
            "languageModel": {"server": "tgi"},
            "tgi": {"model": "/cache/model", "download": False, "runtimeClassName": "nvidia"},
        }
    ),
    "vLLM": Scenario(
        {
            "languageModel": {"server": "vllm"},
            "vllm": {
                "model": "a/model",
                "existingSecret": "hub",
                "persistence": {"enabled": False},
                **GPU_NODES,
            },
        }
    ),
    "llama.cpp": Scenario(
        {
            "languageModel": {"server": "llama_cpp"},
            "llamaCpp": {
                "model": "hf:a/model/Model-Q4.gguf",
                "existingSecret": "hub",
                "memoryMB": 1900,
            },
            "generator": {
                "replicas": 2,
                "persistence": {"enabled": True, "accessModes": ["ReadWriteMany"]},
                "extraEnv": [{"name": "HF_ENDPOINT", "value": "https://mirror.example"}],
            },
        }
    ),
    "llama.cpp of a volume": Scenario(
        {
            "languageModel": {"server": "llama_cpp"},
            "llamaCpp": {
                "model": "smollm2/model.gguf",
                "existingClaim": "models",
                "memoryMB": 602,
                "startSeconds": 900,
            },
        }
    ),
    "Triton": Scenario({"contributionModel": {"server": "triton"}, "triton": GPU_NODES}),
    "Triton on CPUs": Scenario(
        {
            "contributionModel": {
                "server": "triton",
                "existingClaim": "models",
                "path": "roberta",
            },
            "triton": {"backend": "onnx", "args": ["--log-info=false"]},
        }
    ),
    "servers that are there": Scenario(
        {
            "languageModel": {
                "server": "external",
                "url": "https://models.example/v1",
                "engine": "openai",
                "existingSecret": "models-key",
                "caSecret": "models-ca",
            },
            "contributionModel": {
                "server": "external",
                "target": "dns:///triton.models:9001",
                "tls": True,
                "caSecret": "triton-ca",
                "existingClaim": "models",
                "path": "roberta",
            },
            "passages": {
                "server": "opensearch",
                "opensearch": {
                    "urls": ["https://one.search:9200", "https://two.search:9201"],
                    "user": "scaar",
                    "existingSecret": "opensearch",
                    "caSecret": "opensearch-ca",
                },
            },
            "evaluations": {**DATABASE, **BROKER},
            "worker": {"enabled": True},
            "networkPolicy": {
                "external": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
                "externalPorts": [8443],
            },
        }
    ),
    "scaled by Kubernetes": Scenario(
        {
            **each_by({"by": "hpa", "maxReplicas": 3}, SERVICES[:5]),
            "console": {"enabled": True, "autoscaling": {"by": "hpa", "maxReplicas": 3}},
            "languageModel": {"server": "tgi"},
            "tgi": {
                "model": "a/model",
                "autoscaling": {
                    "by": "hpa",
                    "metrics": [
                        {
                            "type": "Pods",
                            "pods": {
                                "metric": {"name": "tgi_queue_size"},
                                "target": {"type": "AverageValue", "averageValue": "4"},
                            },
                        }
                    ],
                    "behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}},
                },
            },
        }
    ),
    "scaled by KEDA": Scenario(
        {
            **each_by({"by": "keda", "maxReplicas": 3}, SERVICES[:5]),
            "console": {"enabled": True, "autoscaling": {"by": "keda", "maxReplicas": 3}},
            "telemetry": PROMETHEUS,
            "languageModel": {"server": "tgi"},
            "tgi": {
                "model": "a/model",
                "autoscaling": {
                    "by": "keda",
                    "behavior": {"scaleDown": {"stabilizationWindowSeconds": 600}},
                },
            },
            "contributionModel": {"server": "triton"},
            "triton": {"autoscaling": {"by": "keda"}},
            "evaluations": {**DATABASE, **BROKER},
            "worker": {"enabled": True, "autoscaling": {"by": "keda", "minReplicas": 0}},
        }
    ),
    "vLLM by KEDA, workers of RabbitMQ": Scenario(
        {
            "telemetry": PROMETHEUS,
            "languageModel": {"server": "vllm"},
            "vllm": {"model": "a/model", "autoscaling": {"by": "keda"}},
            "evaluations": {
                **DATABASE,
                "broker": {**BROKER["broker"], "kind": "rabbitmq"},
            },
            "evaluator": {"replicas": 3, "settings": {"queue": "films"}},
            "worker": {"enabled": True, "autoscaling": {"by": "keda"}},
        }
    ),
    "triggers of one's own": Scenario(
        each_by(
            {
                "by": "keda",
                "minReplicas": 0,
                "triggers": [
                    {
                        "type": "cron",
                        "metadata": {
                            "timezone": "UTC",
                            "start": "0 8 * * *",
                            "end": "0 18 * * *",
                            "desiredReplicas": "4",
                        },
                    }
                ],
            },
            ("orchestrator",),
        )
    ),
    "watched": Scenario(
        {
            "telemetry": {
                "otlpEndpoint": "http://collector.telemetry:4317",
                "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
                "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
                "dashboard": {"enabled": True},
            }
        },
        "lab",
    ),
    "not watched": Scenario({"telemetry": {"metrics": False}}, "lab"),
    "without policies, budgets and spread": Scenario(
        {
            "networkPolicy": {"enabled": False},
            "podDisruptionBudget": {"enabled": False},
            "topologySpread": {"keys": []},
            "serviceAccount": {"create": False},
        },
        "lab",
    ),
    "reached from outside": Scenario(
        {
            "orchestrator": {
                "expose": {
                    "enabled": True,
                    "type": "LoadBalancer",
                    "annotations": {"example.com/internal": "true"},
                }
            },
            "evaluator": {"expose": {"enabled": True}},
            "gateway": {
                "expose": {"enabled": True, "type": "NodePort", "names": ["http.example.org"]},
            },
        }
    ),
    "gateway behind an ingress controller": Scenario(
        {
            "networkPolicy": {"httpClients": [{"namespaceSelector": {"matchLabels": INGRESS}}]},
            "gateway": {
                "ingress": {
                    "enabled": True,
                    "className": "nginx",
                    "annotations": {"nginx.ingress.kubernetes.io/proxy-buffering": "off"},
                    "hosts": ["scaar.example.org", "*.example.net"],
                    "tlsSecret": "scaar-example-org",
                },
            },
        },
        "lab",
    ),
    "gateway behind an ingress controller for every host": Scenario(
        {"tls": TLS, "gateway": {"ingress": {"enabled": True}}}
    ),
    "routes of the Gateway API": Scenario(
        {
            "gateway": {
                "httpRoute": {
                    "enabled": True,
                    "annotations": {"example.com/note": "x"},
                    "parentRefs": [{"name": "public", "namespace": "gateways"}],
                    "hostnames": ["scaar.example.org"],
                    "timeout": "90s",
                },
            },
            "orchestrator": {
                "grpcRoute": {
                    "enabled": True,
                    "parentRefs": [{"name": "public", "sectionName": "grpc"}],
                    "hostnames": ["grpc.example.org"],
                },
            },
        },
        "lab",
    ),
    "routes for every host, to exposed services": Scenario(
        {
            "gateway": {"httpRoute": {"enabled": True, "parentRefs": [{"name": "public"}]}},
            "orchestrator": {
                "expose": {"enabled": True, "port": 8443},
                "grpcRoute": {"enabled": True, "parentRefs": [{"name": "public"}]},
            },
        }
    ),
    "records on PostgreSQL": Scenario(
        {
            "orchestrator": {
                "replicas": 2,
                "records": {
                    "enabled": True,
                    "content": "hashed",
                    "hashKeySecret": "records-key",
                    "database": {"existingSecret": "records-database", "port": 5433},
                },
            },
            "records": {"enabled": True, "replicas": 2},
        }
    ),
    "records without their orchestrator": Scenario(
        {"records": {"enabled": True, "persistence": {"existingClaim": "kept"}}}
    ),
    "console behind an ingress controller": Scenario(
        {
            "networkPolicy": {"httpClients": [{"namespaceSelector": {"matchLabels": INGRESS}}]},
            "console": {
                "enabled": True,
                "ingress": {"enabled": True, "hosts": ["console.example.org"]},
                "httpRoute": {
                    "enabled": True,
                    "parentRefs": [{"name": "public"}],
                    "hostnames": ["console.example.org"],
                },
            },
        }
    ),
    "neither records nor console": Scenario(
        {
            "orchestrator": {"records": {"enabled": False}},
            "records": {"enabled": False},
            "console": {"enabled": False},
        },
        "lab",
    ),
    "no gateway": Scenario({"gateway": {"enabled": False}}, "lab"),
    "passages of a volume": Scenario(
        {
            "indexLoad": {
                "enabled": True,
                "index": "wikipedia",
                "existingClaim": "corpus",
                "file": "psgs_w100.tsv.gz",
                "args": ["--ignore-metadata"],
            },
            "retriever": {
                "replicas": 2,
                "persistence": {"enabled": True, "accessModes": ["ReadWriteMany"]},
            },
        }
    ),
    "everything of a part": Scenario(
        {
            "generator": {
                "replicas": 2,
                "settings": {"max_concurrent": 1000, "recommended": {"flare": {"theta": 0.5}}},
                "strategy": {"type": "Recreate"},
                "nodeSelector": {"disk": "fast"},
                "tolerations": [{"key": "spot", "operator": "Exists"}],
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "arm", "operator": "DoesNotExist"}]}
                            ]
                        }
                    }
                },
                "priorityClassName": "high",
                "podLabels": {"team": "films"},
                "podAnnotations": {"example.com/note": "x"},
                "extraEnv": [
                    {
                        "name": "EXAMPLE_KEY",
                        "valueFrom": {"secretKeyRef": {"name": "key", "key": "key"}},
                    }
                ],
                "extraVolumes": [{"name": "model", "persistentVolumeClaim": {"claimName": "m"}}],
                "extraVolumeMounts": [{"name": "model", "mountPath": "/model"}],
            },
            "fullnameOverride": "films-scaar",
        }
    ),
}
