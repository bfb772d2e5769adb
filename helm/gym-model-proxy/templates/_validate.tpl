{{/*
What the values schema cannot say: combinations that would lose records or open the control routes. Every message says
what to change.
*/}}
{{- define "gym-model-proxy.validate" -}}
{{- $config := .Values.config }}
{{- if not (or .Values.controlToken.existingSecret .Values.controlToken.value) }}
{{- fail "\n\nNo control token. Make one and name it:\n  kubectl create secret generic gym-model-proxy-control --from-literal=control-token=$(openssl rand -hex 32)\n  helm ... --set controlToken.existingSecret=gym-model-proxy-control" }}
{{- end }}
{{- range $name := list "controlToken" "agentKeySecret" "workerApiKey" "ledgerUrl" }}
{{- $secret := index $.Values $name }}
{{- if and $secret.existingSecret $secret.value }}
{{- fail (printf "\n\n%s has both existingSecret and value: keep one." $name) }}
{{- end }}
{{- end }}
{{- if not $config.workers }}
{{- fail "\n\nconfig.workers is empty: list the base URLs of the inference workers." }}
{{- end }}
{{- range $section := list "server" "control" }}
{{- if eq (toString (dig $section "port" nil $config)) "0" }}
{{- fail (printf "\n\nconfig.%s.port is 0, which takes any free port: probes and Services need to know it." $section) }}
{{- end }}
{{- end }}
{{- range $url := $config.workers }}
{{- if regexMatch "^[a-z]+://[^/]*@" $url }}
{{- fail "\n\nconfig.workers holds a URL with a user: config becomes a ConfigMap, and workers take keys alone: use workerApiKey." }}
{{- end }}
{{- end }}
{{- with .Values.controlToken.value }}
{{- if lt (len .) 16 }}
{{- fail "\n\ncontrolToken.value needs at least 16 characters." }}
{{- end }}
{{- end }}
{{- range $path, $instead := dict "control.token" "controlToken" "agents.key_secret" "agentKeySecret" "worker.api_key" "workerApiKey" "worker.api_keys" "extraEnv (GYM_PROXY_WORKER_API_KEYS from a Secret)" }}
{{- $parts := splitList "." $path }}
{{- if dig (index $parts 0) (index $parts 1) nil $config }}
{{- fail (printf "\n\nconfig.%s is a secret and config becomes a ConfigMap: use %s instead." $path $instead) }}
{{- end }}
{{- end }}
{{- if regexMatch "^[a-z+]+://[^/@]*:[^/@]+@" (dig "ledger" "url" nil $config | default "") }}
{{- fail "\n\nconfig.ledger.url holds a password and config becomes a ConfigMap: put the URL into a Secret and use ledgerUrl.existingSecret." }}
{{- end }}
{{- if include "gym-model-proxy.isSqlite" . }}
{{- if or (and (not .Values.autoscaling.enabled) (gt (int .Values.replicas) 1)) (and .Values.autoscaling.enabled (gt (int .Values.autoscaling.maxReplicas) 1)) }}
{{- fail "\n\nMore than one replica cannot share a SQLite ledger: set config.ledger.url (or ledgerUrl) to a Redis, or keep replicas: 1 without autoscaling." }}
{{- end }}
{{- $url := .Values.ledgerUrl.value | default (dig "ledger" "url" nil $config) | default "sqlite:" }}
{{- if not (hasPrefix "sqlite:/data/" $url) }}
{{- fail (printf "\n\nThe SQLite ledger must lie on the volume: %s does not begin with sqlite:/data/." $url) }}
{{- end }}
{{- end }}
{{- if and .Values.networkPolicy.enabled (not (include "gym-model-proxy.hasControlPort" .)) }}
{{- fail "\n\nnetworkPolicy.enabled needs config.control.port to be another one than config.server.port: on one port, agents reach the control routes." }}
{{- end }}
{{- $callS := dig "deadlines" "call_s" nil $config | default 3600 | float64 }}
{{- if and .Values.prometheusRule.enabled (le (float64 .Values.prometheusRule.pendingCallSeconds) $callS) }}
{{- fail (printf "\n\nprometheusRule.pendingCallSeconds is not more than config.deadlines.call_s (%v): every long call would raise the alert." $callS) }}
{{- end }}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) }}
{{- fail "\n\nautoscaling.minReplicas is above autoscaling.maxReplicas." }}
{{- end }}
{{- end }}
