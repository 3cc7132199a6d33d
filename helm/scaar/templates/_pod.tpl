{{/* Fields of every pod: identity, placement, security. */}}

{{/* Of: root. */}}
{{- define "scaar.podIdentity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/* The nodes of a pod. Of: nodeSelector, tolerations. */}}
{{- define "scaar.nodes" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Of: root, component, values (the part's own). */}}
{{- define "scaar.podPlacement" -}}
serviceAccountName: {{ include "scaar.serviceAccount" .root }}
{{- include "scaar.nodes" .values }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .root.Values.topologySpread.keys }}
topologySpreadConstraints:
  {{- range . }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $.root.Values.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- include "scaar.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end }}

{{- define "scaar.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* The number of replicas, unless an autoscaler sets it. Of: values. */}}
{{- define "scaar.replicas" -}}
{{- if eq .values.autoscaling.by "none" -}}
replicas: {{ .values.replicas }}
{{- end -}}
{{- end }}

{{/* Whether the part may have more than one pod. Of: values. */}}
{{- define "scaar.many" -}}
{{- if or (and (eq .autoscaling.by "none") (gt (int .replicas) 1)) (and (ne .autoscaling.by "none") (gt (int .autoscaling.maxReplicas) 1)) -}}
true
{{- end -}}
{{- end }}

{{/* Of: root, component, values. */}}
{{- define "scaar.podMetadata" -}}
labels:
  # Without versions, so that a newer chart without changes to a pod leaves the pod running.
  {{- include "scaar.selector" . | nindent 2 }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Of: resources, gpu (a mapping, or nothing). */}}
{{- define "scaar.resources" -}}
{{- $resources := deepCopy .resources -}}
{{- if .gpu -}}
{{- $_ := set $resources "limits" (set (default dict $resources.limits) .gpu.resource .gpu.count) -}}
{{- $_ := set $resources "requests" (set (default dict $resources.requests) .gpu.resource .gpu.count) -}}
{{- end -}}
resources:
  {{- toYaml $resources | nindent 2 }}
{{- end }}
