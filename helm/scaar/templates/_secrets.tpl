{{/* Secrets are mounted as files, each in its own folder below /etc/scaar. */}}

{{/* The Secrets of a part: a mapping from folder to Secret. Of: root, key, component. */}}
{{- define "scaar.secrets" -}}
{{- $values := .root.Values -}}
{{- $model := $values.languageModel -}}
{{- $own := list "evaluator" "worker" "migrations" -}}
{{- if and $values.tls.enabled (not (has .key (list "migrations" "recordsMigrations"))) }}
tls: {{ include "scaar.tlsSecret" . }}
{{- end }}
{{- if and $values.tls.enabled $values.identities.tokenSecret (has .key (list "evaluator" "worker" "test")) }}
token: {{ $values.identities.tokenSecret }}
{{- end }}
{{- if and $values.identities.existingSecret (has .key (list "orchestrator" "evaluator" "records")) }}
identities: {{ $values.identities.existingSecret }}
{{- end }}
{{- if and (eq .key "generator") (eq $model.server "external") }}
{{- with $model.existingSecret }}
language-model: {{ . }}
{{- end }}
{{- with $model.caSecret }}
language-model-ca: {{ . }}
{{- end }}
{{- end }}
{{- if and (eq .key "scorer") (eq $values.contributionModel.server "external") }}
{{- with $values.contributionModel.caSecret }}
triton-ca: {{ . }}
{{- end }}
{{- end }}
{{- if and (eq .key "retriever") (eq $values.passages.server "opensearch") }}
{{- with $values.passages.opensearch.existingSecret }}
opensearch: {{ . }}
{{- end }}
{{- with $values.passages.opensearch.caSecret }}
opensearch-ca: {{ . }}
{{- end }}
{{- end }}
{{- if has .key $own }}
{{- with $values.evaluations.database.existingSecret }}
database: {{ . }}
{{- end }}
{{- end }}
{{- $records := $values.orchestrator.records -}}
{{- if and $records.database.existingSecret (or (has .key (list "records" "recordsMigrations")) (and (eq .key "orchestrator") $records.enabled)) }}
records-database: {{ $records.database.existingSecret }}
{{- end }}
{{- if and (eq .key "orchestrator") $records.enabled (eq $records.content "hashed") }}
records-key: {{ $records.hashKeySecret }}
{{- end }}
{{- if has .key (list "evaluator" "worker") }}
{{- with $values.evaluations.broker.existingSecret }}
broker: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "scaar.secretVolumes" -}}
{{- range $folder, $secret := include "scaar.secrets" . | fromYaml }}
- name: {{ $folder }}
  secret:
    secretName: {{ $secret }}
    # Readable for the user's group only, which is the pod's fsGroup.
    defaultMode: 0440
{{- end }}
{{- end }}

{{- define "scaar.secretMounts" -}}
{{- range $folder, $secret := include "scaar.secrets" . | fromYaml }}
- name: {{ $folder }}
  mountPath: /etc/scaar/{{ $folder }}
  readOnly: true
{{- end }}
{{- end }}
