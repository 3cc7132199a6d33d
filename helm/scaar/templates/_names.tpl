{{/* Names, labels and images. */}}

{{- define "scaar.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "scaar.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "scaar.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "scaar.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* The name of a part's objects. Of: root, component. */}}
{{/* The ConfigMap of the policy artefacts; empty without artefacts. Of: root. */}}
{{- define "scaar.artefacts" -}}
{{- with .Values.orchestrator.artefacts -}}
{{- if .existingConfigMap -}}
{{- .existingConfigMap -}}
{{- else if .files -}}
{{- include "scaar.partName" (dict "root" $ "component" "artefacts") -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "scaar.partName" -}}
{{- printf "%s-%s" (include "scaar.fullname" .root) .component -}}
{{- end }}

{{/* The host name of a part, which its certificate contains. Of: root, component. */}}
{{- define "scaar.host" -}}
{{- printf "%s.%s.svc.%s" (include "scaar.partName" .) .root.Release.Namespace .root.Values.clusterDomain -}}
{{- end }}

{{/* Of: root. */}}
{{- define "scaar.releaseLabels" -}}
app.kubernetes.io/name: {{ include "scaar.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{/* The selector labels of a part's pods. Of: root, component. */}}
{{- define "scaar.selector" -}}
{{ include "scaar.releaseLabels" . }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Of: root, component. */}}
{{- define "scaar.labels" -}}
{{ include "scaar.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: scaar
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* One of scaar's images, unless the values name another. Of: root, image, given. */}}
{{- define "scaar.image" -}}
{{- if .given -}}
{{- .given -}}
{{- else -}}
{{- printf "%s%s:%s" .root.Values.image.prefix .image (default .root.Chart.AppVersion .root.Values.image.tag) -}}
{{- end -}}
{{- end }}

{{- define "scaar.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "scaar.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{/* The Secret of a part's certificate. Of: root, component. */}}
{{- define "scaar.tlsSecret" -}}
{{- if .root.Values.tls.certManager.enabled -}}
{{- printf "%s-tls" (include "scaar.partName" .) -}}
{{- else -}}
{{- .root.Values.tls.existingSecret -}}
{{- end -}}
{{- end }}

{{/* The claim of a part's volume: an existing one, or the chart's. Of: root, component, persistence. */}}
{{- define "scaar.claim" -}}
{{- default (include "scaar.partName" .) .persistence.existingClaim -}}
{{- end }}
