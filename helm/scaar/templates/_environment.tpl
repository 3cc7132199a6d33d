{{/* The environment of scaar's own parts: a mapping of names to texts. */}}

{{/* The environment of a service; its `settings` take precedence over the chart's. Of: root, key, part. */}}
{{- define "scaar.environment" -}}
{{- $prefix := include "scaar.prefix" .part.component -}}
{{- $all := include "scaar.environment.service" . | fromYaml -}}
{{- $all = mergeOverwrite $all (include (printf "scaar.environment.%s" .key) .root | fromYaml) -}}
{{- range $field, $value := (index .root.Values .key).settings -}}
{{- $_ := set $all (printf "%s%s" $prefix (upper $field)) (kindIs "string" $value | ternary $value (toJson $value)) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end }}

{{- define "scaar.prefix" -}}
{{- printf "SCAAR_%s_" (upper . | replace "-" "_") -}}
{{- end }}

{{- define "scaar.environment.service" -}}
{{- $values := .root.Values -}}
{{- $prefix := include "scaar.prefix" .part.component -}}
{{ $prefix }}ADDRESS: {{ printf "0.0.0.0:%v" .part.port | quote }}
{{ $prefix }}DRAIN_S: {{ $values.drainSeconds | quote }}
{{ $prefix }}STOP_GRACE_S: {{ $values.longestAnswerSeconds | quote }}
{{ include "scaar.environment.log" (dict "values" $values "prefix" $prefix) }}
{{- if $values.telemetry.metrics }}
{{ $prefix }}METRICS_ADDRESS: "0.0.0.0:9464"
{{- end }}
{{- if and $values.telemetry.otlpEndpoint (not .part.http) }}
{{ $prefix }}OTLP_ENDPOINT: {{ $values.telemetry.otlpEndpoint | quote }}
{{- end }}
{{- if has .key (list "generator" "scorer" "queryBuilder" "retriever") }}
{{ $prefix }}MAX_CONNECTION_AGE_S: "10"
{{- end }}
{{- if $values.tls.enabled }}
{{ $prefix }}TLS_CERT_FILE: /etc/scaar/tls/tls.crt
{{ $prefix }}TLS_KEY_FILE: /etc/scaar/tls/tls.key
{{- if not .part.http }}
{{ $prefix }}HEALTH_ADDRESS: "0.0.0.0:50050"
{{- end }}
{{- if and $values.tls.clientCertificates (not .part.http) }}
{{ $prefix }}TLS_CLIENT_CA_FILE: /etc/scaar/tls/ca.crt
{{- end }}
{{- end }}
{{- if and $values.identities.existingSecret (has .key (list "orchestrator" "evaluator" "records")) }}
{{ $prefix }}IDENTITIES_FILE: /etc/scaar/identities/identities.yaml
{{- end }}
{{ include "scaar.environment.channel" (dict "values" $values "token" (eq .key "evaluator")) }}
{{- end }}

{{- define "scaar.environment.log" -}}
{{ .prefix }}LOG_FORMAT: {{ .values.log.format }}
{{ .prefix }}LOG_LEVEL: {{ .values.log.level }}
{{- end }}

{{/* The settings of channels to services. Of: values, token (whether as the evaluator). */}}
{{- define "scaar.environment.channel" -}}
{{- if .values.tls.enabled -}}
SCAAR_CHANNEL_TLS: "true"
SCAAR_CHANNEL_CA_FILE: /etc/scaar/tls/ca.crt
{{- if .values.tls.clientCertificates }}
SCAAR_CHANNEL_CERT_FILE: /etc/scaar/tls/tls.crt
SCAAR_CHANNEL_KEY_FILE: /etc/scaar/tls/tls.key
{{- end }}
{{- if and .token .values.identities.tokenSecret }}
SCAAR_CHANNEL_TOKEN_FILE: /etc/scaar/token/token
{{- end }}
{{- end -}}
{{- end }}

{{- define "scaar.target" -}}
{{- printf "dns:///%s:%v" (include "scaar.host" .) .port -}}
{{- end }}

{{- define "scaar.environment.orchestrator" -}}
SCAAR_ORCHESTRATOR_GENERATOR_TARGET: {{ include "scaar.target" (dict "root" . "component" "generator" "port" 50052) }}
SCAAR_ORCHESTRATOR_SCORER_TARGET: {{ include "scaar.target" (dict "root" . "component" "scorer" "port" 50053) }}
{{- if .Values.queryBuilder.enabled }}
SCAAR_ORCHESTRATOR_QUERY_BUILDER_TARGET: {{ include "scaar.target" (dict "root" . "component" "query-builder" "port" 50054) }}
{{- else }}
SCAAR_ORCHESTRATOR_QUERY_BUILDER_TARGET: embedded
{{- end }}
SCAAR_ORCHESTRATOR_RETRIEVER_TARGET: {{ include "scaar.target" (dict "root" . "component" "retriever" "port" 50055) }}
{{- if include "scaar.artefacts" . }}
SCAAR_ORCHESTRATOR_POLICY_FOLDER: /etc/scaar/artefacts
{{- end }}
{{- with .Values.orchestrator.records }}
{{- if .enabled }}
SCAAR_ORCHESTRATOR_RECORDS_CONTENT: {{ .content }}
{{- if .database.existingSecret }}
SCAAR_ORCHESTRATOR_RECORDS_DATABASE_FILE: /etc/scaar/records-database/url
{{- else }}
SCAAR_ORCHESTRATOR_RECORDS_DATABASE: {{ include "scaar.recordsFile" $ }}
{{- end }}
{{- if eq .content "hashed" }}
SCAAR_ORCHESTRATOR_RECORDS_HASH_KEY_FILE: /etc/scaar/records-key/key
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "scaar.recordsFile" -}}
sqlite:////var/lib/scaar/records.sqlite
{{- end }}

{{- define "scaar.environment.records" -}}
{{- if include "scaar.recordsInFile" . -}}
SCAAR_RECORDS_DATABASE: {{ include "scaar.recordsFile" . }}
{{- else -}}
SCAAR_RECORDS_DATABASE_FILE: /etc/scaar/records-database/url
{{- end }}
{{- end }}

{{- define "scaar.environment.console" -}}
SCAAR_CONSOLE_ORCHESTRATOR_TARGET: {{ include "scaar.target" (dict "root" . "component" "orchestrator" "port" 50051) }}
{{- if .Values.records.enabled }}
SCAAR_CONSOLE_RECORDS_TARGET: {{ include "scaar.target" (dict "root" . "component" "records" "port" 50057) }}
{{- end }}
{{- if .Values.evaluator.enabled }}
SCAAR_CONSOLE_EVALUATOR_TARGET: {{ include "scaar.target" (dict "root" . "component" "evaluator" "port" 50056) }}
{{- end }}
{{- if .Values.identities.existingSecret }}
SCAAR_CONSOLE_REQUIRE_TOKEN: "true"
{{- end }}
{{- end }}

{{- define "scaar.environment.generator" -}}
{{- $model := .Values.languageModel -}}
{{- with include "scaar.languageModelUrl" . }}
SCAAR_GENERATOR_URL: {{ . | quote }}
SCAAR_GENERATOR_ENGINE: {{ get (dict "external" $model.engine "vllm" "openai") $model.server | default "tgi" }}
{{- end }}
{{- if eq $model.server "llama_cpp" }}
SCAAR_GENERATOR_ENGINE: llama_cpp
SCAAR_GENERATOR_MODEL: {{ include "scaar.ggufFile" . | quote }}
{{- if include "scaar.many" .Values.generator }}
# The calls of an answer reach several replicas, and a slot is of one.
SCAAR_GENERATOR_PREFIX_REUSE: none
{{- end }}
{{- end }}
{{- if eq $model.server "external" }}
{{- if $model.existingSecret }}
SCAAR_GENERATOR_API_KEY_FILE: /etc/scaar/language-model/api-key
{{- end }}
{{- if $model.caSecret }}
SCAAR_GENERATOR_CA_FILE: /etc/scaar/language-model-ca/ca.crt
{{- end }}
{{- end }}
{{- end }}

{{- define "scaar.environment.scorer" -}}
{{- $model := .Values.contributionModel -}}
{{- with include "scaar.tritonTarget" . }}
SCAAR_SCORER_ENGINE: triton
SCAAR_SCORER_TRITON_TARGET: {{ . | quote }}
{{- end }}
{{- if $model.existingClaim }}
SCAAR_SCORER_MODEL: {{ printf "/models/%s" $model.path | trimSuffix "/" }}
{{- end }}
{{- if and (eq $model.server "external") $model.tls }}
SCAAR_SCORER_TRITON_TLS: "true"
{{- if $model.caSecret }}
SCAAR_SCORER_TRITON_CA_FILE: /etc/scaar/triton-ca/ca.crt
{{- end }}
{{- end }}
{{- end }}

{{- define "scaar.environment.queryBuilder" -}}
{{- end }}

{{- define "scaar.environment.retriever" -}}
{{- with .Values.passages -}}
{{- if eq .server "opensearch" -}}
SCAAR_RETRIEVER_ENGINE: opensearch
SCAAR_RETRIEVER_OPENSEARCH_URLS: {{ toJson .opensearch.urls | quote }}
{{- if .opensearch.existingSecret }}
SCAAR_RETRIEVER_OPENSEARCH_USER: {{ .opensearch.user | quote }}
SCAAR_RETRIEVER_OPENSEARCH_PASSWORD_FILE: /etc/scaar/opensearch/password
{{- end }}
{{- if .opensearch.caSecret }}
SCAAR_RETRIEVER_OPENSEARCH_CA_FILE: /etc/scaar/opensearch-ca/ca.crt
{{- end }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "scaar.environment.evaluator" -}}
SCAAR_EVALUATOR_ORCHESTRATOR_TARGET: {{ include "scaar.target" (dict "root" . "component" "orchestrator" "port" 50051) }}
{{- if .Values.evaluations.database.existingSecret }}
SCAAR_EVALUATOR_DATABASE_FILE: /etc/scaar/database/url
{{- end }}
{{- if .Values.evaluations.broker.existingSecret }}
SCAAR_EVALUATOR_EXECUTOR: celery
SCAAR_EVALUATOR_BROKER_FILE: /etc/scaar/broker/url
{{- else if .Values.worker.enabled }}
SCAAR_EVALUATOR_EXECUTOR: poll
{{- end }}
{{- end }}

{{/*
The gateway is addressed by the names of its Services, and those of Ingress and HTTPRoute. If one of
these, or a Service for callers outside the cluster, has no names, every host stays allowed.
*/}}
{{- define "scaar.environment.gateway" -}}
{{- $own := .Values.gateway -}}
{{- $names := list -}}
{{- range $component := $own.expose.enabled | ternary (list "gateway" "gateway-exposed") (list "gateway") -}}
{{- $host := include "scaar.host" (dict "root" $ "component" $component) -}}
{{- $short := $host | trimSuffix (printf ".%s" $.Values.clusterDomain) -}}
{{- $names = concat $names (list $host $short (trimSuffix ".svc" $short) (include "scaar.partName" (dict "root" $ "component" $component))) -}}
{{- end -}}
{{- $names = concat $names $own.expose.names -}}
{{- if $own.ingress.enabled }}{{ $names = concat $names $own.ingress.hosts }}{{ end -}}
{{- if $own.httpRoute.enabled }}{{ $names = concat $names $own.httpRoute.hostnames }}{{ end -}}
{{- $outside := and $own.expose.enabled (ne $own.expose.type "ClusterIP") (not $own.expose.names) -}}
{{- $ingress := and $own.ingress.enabled (not $own.ingress.hosts) -}}
{{- $route := and $own.httpRoute.enabled (not $own.httpRoute.hostnames) -}}
SCAAR_GATEWAY_ORCHESTRATOR_TARGET: {{ include "scaar.target" (dict "root" . "component" "orchestrator" "port" 50051) }}
{{- if not (or $outside $ingress $route) }}
SCAAR_GATEWAY_ALLOWED_HOSTS: {{ $names | uniq | toJson | quote }}
{{- end }}
{{- if .Values.identities.existingSecret }}
SCAAR_GATEWAY_REQUIRE_TOKEN: "true"
{{- end }}
{{- end }}

{{/* The environment of a worker: the evaluator's settings, without those for serving. Of: root. */}}
{{- define "scaar.environment.worker" -}}
{{- $evaluator := dict "component" "evaluator" "port" 50056 -}}
{{- $all := include "scaar.environment" (dict "root" . "key" "evaluator" "part" $evaluator) | fromYaml -}}
{{- range $name := list "ADDRESS" "HEALTH_ADDRESS" "TLS_CERT_FILE" "TLS_KEY_FILE" "TLS_CLIENT_CA_FILE" "IDENTITIES_FILE" -}}
{{- $all = omit $all (printf "SCAAR_EVALUATOR_%s" $name) -}}
{{- end -}}
{{- toYaml $all -}}
{{- end }}

{{/* A mapping of names to texts as the env of a container. */}}
{{- define "scaar.env" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
