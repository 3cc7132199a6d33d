{{/* The GGUF file that the generator runs, where languageModel.server is llama_cpp. */}}

{{/* The setting `model` of the generator: a path in the claim, or the name of a downloaded model. */}}
{{- define "scaar.ggufFile" -}}
{{- with .Values.llamaCpp -}}
{{- if .existingClaim -}}
{{- printf "/models/%s" .model -}}
{{- else if hasPrefix "hf:" .model -}}
{{- /* Another file is another name: the volume may have both. */ -}}
{{- printf "hub-%s" (sha256sum .model | trunc 12) -}}
{{- else -}}
{{- .model -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The arguments of the init container that downloads the model. */}}
{{- define "scaar.modelArguments" -}}
{{- $arguments := list "models" "get" .Values.llamaCpp.model "--yes" -}}
{{- if hasPrefix "hf:" .Values.llamaCpp.model -}}
{{- $arguments = append $arguments (printf "--name=%s" (include "scaar.ggufFile" .)) -}}
{{- end -}}
{{- toJson $arguments -}}
{{- end }}

{{/* The generator's resources. Memory is reserved as a whole: keys and values are allocated at start. */}}
{{- define "scaar.llamaResources" -}}
{{- $resources := deepCopy .Values.generator.resources -}}
{{- $memory := printf "%dM" (add (int .Values.llamaCpp.memoryMB) 269) -}}
{{- range $of := list "requests" "limits" -}}
{{- $_ := set $resources $of (set (default dict (index $resources $of)) "memory" $memory) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end }}
