{{/* The parts of the release, one per row. `grpc` is a service's name in the contract; `http` marks
     gateway and console, which serve HTTP; `foreign` marks servers that are not scaar's own. */}}

{{- define "scaar.parts" -}}
{{- $values := .Values -}}
orchestrator: {component: orchestrator, image: orchestrator, port: 50051, grpc: scaar.v1.OrchestratorService}
generator: {component: generator, image: generator, port: 50052, grpc: scaar.v1.GeneratorService}
scorer: {component: scorer, image: scorer, port: 50053, grpc: scaar.v1.ScorerService}
{{- if $values.queryBuilder.enabled }}
queryBuilder: {component: query-builder, image: query-builder, port: 50054, grpc: scaar.v1.QueryBuilderService}
{{- end }}
retriever: {component: retriever, image: retriever, port: 50055, grpc: scaar.v1.RetrieverService}
{{- if $values.evaluator.enabled }}
evaluator: {component: evaluator, image: evaluator, port: 50056, grpc: scaar.v1.EvaluatorService}
{{- end }}
{{- if $values.records.enabled }}
records: {component: records, image: records, port: 50057, grpc: scaar.v1.RecordsService}
{{- end }}
{{- if $values.gateway.enabled }}
gateway: {component: gateway, image: gateway, port: 8090, http: true, metricsPort: 9464}
{{- end }}
{{- if $values.console.enabled }}
console: {component: console, image: console, port: 8091, http: true, metricsPort: 9464}
{{- end }}
{{- if $values.worker.enabled }}
worker: {component: worker, image: worker, metricsPort: 9464}
{{- end }}
{{- if eq $values.languageModel.server "lab" }}
labModel: {component: lab-model, image: scaar-lab, foreign: true, port: 8080}
{{- end }}
{{- if eq $values.languageModel.server "tgi" }}
tgi: {component: tgi, foreign: true, port: 8080, gpu: true}
{{- end }}
{{- if eq $values.languageModel.server "vllm" }}
vllm: {component: vllm, foreign: true, port: 8080, gpu: true}
{{- end }}
{{- if eq $values.contributionModel.server "triton" }}
triton: {component: triton, foreign: true, port: 8001, metricsPort: 8002, gpu: {{ eq $values.triton.backend "tensorrt" }}}
{{- end }}
{{- end }}

{{/* The parts that serve scaar's contract. */}}
{{- define "scaar.services" -}}
{{- $services := dict -}}
{{- range $key, $part := include "scaar.parts" . | fromYaml -}}
{{- if hasKey $part "grpc" }}{{ $_ := set $services $key $part }}{{ end -}}
{{- end -}}
{{- toYaml $services -}}
{{- end }}

{{/* Whether the records are in an SQLite file, which one orchestrator and the records share. */}}
{{- define "scaar.recordsInFile" -}}
{{- if and .Values.records.enabled (not .Values.orchestrator.records.database.existingSecret) -}}
true
{{- end -}}
{{- end }}

{{/* The URL of a part that serves HTTP, inside the cluster. Of: root, part. */}}
{{- define "scaar.httpUrl" -}}
{{- printf "%s://%s:%v" (.root.Values.tls.enabled | ternary "https" "http") (include "scaar.host" (dict "root" .root "component" .part.component)) .part.port -}}
{{- end }}

{{/* The URL of the language model's server; empty for a model that the generator itself runs. */}}
{{- define "scaar.languageModelUrl" -}}
{{- $server := .Values.languageModel.server -}}
{{- if eq $server "external" -}}
{{- .Values.languageModel.url -}}
{{- else if has $server (list "lab" "tgi" "vllm") -}}
{{- $component := eq $server "lab" | ternary "lab-model" $server -}}
{{- printf "http://%s:8080" (include "scaar.host" (dict "root" . "component" $component)) -}}
{{- end -}}
{{- end }}

{{/* The gRPC target of Triton; empty for an embedded model. */}}
{{- define "scaar.tritonTarget" -}}
{{- $server := .Values.contributionModel.server -}}
{{- if eq $server "external" -}}
{{- .Values.contributionModel.target -}}
{{- else if eq $server "triton" -}}
{{- printf "dns:///%s:8001" (include "scaar.host" (dict "root" . "component" "triton")) -}}
{{- end -}}
{{- end }}

{{/* The port of a URL or a target. */}}
{{- define "scaar.portOf" -}}
{{- $authority := regexReplaceAll "^[a-z0-9+]+:/+([^/]*@)?([^/]*).*$" . "${2}" -}}
{{- $port := regexFind "[0-9]+$" (regexFind ":[0-9]+$" $authority) -}}
{{- $port | default (hasPrefix "https:" . | ternary "443" "80") -}}
{{- end }}
