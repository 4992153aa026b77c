{{- define "loadline.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "loadline.fullname" -}}
{{- $name := include "loadline.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "loadline.selector" -}}
app: loadline-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "loadline.labels" -}}
app.kubernetes.io/name: {{ include "loadline.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "loadline.account" -}}
{{ .Values.serviceAccount.name | default (ternary (include "loadline.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "loadline.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* The namespaces that are looked after, as a list in JSON. */}}
{{- define "loadline.namespaces" -}}
{{ .Values.watchNamespaces | default (list .Release.Namespace) | toJson }}
{{- end }}

{{- /*
The rules of deploy/operator/role.yaml that a namespace wants, as JSON. Leases of the operator are in its own namespace alone, and
there nothing else where that is not looked after. Takes: root, file, own and watched (whether the namespace is that).
*/}}
{{- define "loadline.rules" -}}
{{- $rules := list -}}
{{- range (mustRegexSplit "(?m)^---$" (.root.Files.Get .file) -1) -}}
{{- $object := fromYaml . -}}
{{- if eq ($object.kind | default "") "Role" -}}
{{- range $object.rules -}}
{{- $isLease := has "coordination.k8s.io" .apiGroups -}}
{{- $isForeign := has "fcdfce80.io" (.resourceNames | default list) -}}
{{- if or (and $.watched (not $isLease)) (and $isLease (or $.own $isForeign)) -}}
{{- $rules = append $rules . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ $rules | toJson }}
{{- end }}

{{- /* A Role and its binding. Takes: root, namespace, name and rules (in JSON). */}}
{{- define "loadline.role" -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels: {{- include "loadline.labels" .root | nindent 4 }}
rules: {{- .rules | fromJsonArray | toYaml | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels: {{- include "loadline.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "loadline.account" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
