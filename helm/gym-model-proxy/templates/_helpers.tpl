{{- define "gym-model-proxy.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "gym-model-proxy.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- $name := include "gym-model-proxy.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gym-model-proxy.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gym-model-proxy.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gym-model-proxy.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name (.Chart.Version | replace "+" "_") }}
{{ include "gym-model-proxy.selectorLabels" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "gym-model-proxy.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- define "gym-model-proxy.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "gym-model-proxy.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The port that agents connect to, inside the pod. */}}
{{- define "gym-model-proxy.agentPort" -}}
{{- dig "server" "port" nil .Values.config | default 8080 | int }}
{{- end }}

{{/* The port of trainer and operators inside the pod; the agents' one when there is no other. */}}
{{- define "gym-model-proxy.controlPort" -}}
{{- dig "control" "port" nil .Values.config | default (include "gym-model-proxy.agentPort" .) | int }}
{{- end }}

{{/* "true" when trainer and operators have a port of their own. */}}
{{- define "gym-model-proxy.hasControlPort" -}}
{{- if ne (include "gym-model-proxy.controlPort" .) (include "gym-model-proxy.agentPort" .) }}true{{ end }}
{{- end }}

{{/* Name of the container's port that serves health and metrics. */}}
{{- define "gym-model-proxy.controlPortName" -}}
{{- if include "gym-model-proxy.hasControlPort" . }}control{{ else }}agents{{ end }}
{{- end }}

{{/* "true" when the ledger is a SQLite file in the pod. A URL in a Secret of the user's is unknown here, and taken for Redis. */}}
{{- define "gym-model-proxy.isSqlite" -}}
{{- $url := .Values.ledgerUrl.value | default (dig "ledger" "url" nil .Values.config) | default "sqlite:" }}
{{- if and (not .Values.ledgerUrl.existingSecret) (hasPrefix "sqlite:" $url) }}true{{ end }}
{{- end }}

{{/* Name of the Secret for one of the secret values: the user's, else the chart's. Empty when the value is not set. */}}
{{- define "gym-model-proxy.secretName" -}}
{{- $secret := index .root.Values .name }}
{{- if $secret.existingSecret }}{{ $secret.existingSecret }}
{{- else if $secret.value }}{{ include "gym-model-proxy.fullname" .root }}{{ end }}
{{- end }}
