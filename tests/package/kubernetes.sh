#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kubernetes.sh - contrib/kubernetes has the API's types and names, and gives what docs/security.md and the systemd unit say that
# the program needs, and no more. tests/machine/image.sh runs it.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh

verdicts=0
while IFS=$'\t' read -r name verdict; do
	equal "$name" "$verdict" yes
	verdicts=$((verdicts + 1))
done < <(/usr/bin/python3 tests/package/lib/daemonset.py check contrib/kubernetes/*.yaml)
equal "five objects were read, and spoiled ones refused" $verdicts 9

# value KEY: of the container, as JSON.
value() {
	/usr/bin/python3 tests/package/lib/daemonset.py get contrib/kubernetes/ntprof-bpf.yaml "$1"
}
read -ra capabilities < <(value securityContext.capabilities.add | tr -d '[]",')
equal "its capabilities are those of the unit" "$(printf 'CAP_%s ' "${capabilities[@]}" | sed 's/ $//')" \
	"$(sed -n 's/^CapabilityBoundingSet=//p' contrib/systemd/ntprof-bpf@.service)"
equal "and those that docs/security.md names" "$(sed -n 's/^| capabilities | \([^|]*\) |.*/\1/p' docs/security.md)" \
	"$(printf 'CAP_%s, ' "${capabilities[@]}" | sed 's/, $//')"
equal "all others are dropped" "$(value securityContext.capabilities.drop)" '["ALL"]'
equal "it is not privileged" "$(value securityContext.privileged)" false
equal "its root is read-only" "$(value securityContext.readOnlyRootFilesystem)" true
equal "of the node it sees one folder, which it may not write to" \
	"$(value volumeMounts)" '[{"name": "tracing", "mountPath": "/sys/kernel/tracing", "readOnly": true}]'
equal "that is where the program looks" "$(grep -c '"/sys/kernel/tracing/available_filter_functions"' src/trace/kernel.c)" 1
equal "its memory has the limit of the unit" "$(value resources.limits.memory)i" \
	"\"$(sed -n 's/^MemoryMax=//p' contrib/systemd/ntprof-bpf@.service)i\"i"
for probe in startupProbe livenessProbe readinessProbe; do
	equal "$probe asks what answers" "$(value $probe.httpGet.path)" "\"$(sed -n 's/^#define HEALTH_PATH "\(.*\)"/\1/p' src/serve/http.c)\""
done
equal "it serves at the port that is named" "$(value args)" '["serve", "--host", "--listen", ":10998"]'
check "its command line is one" grep -q "too many arguments: 'more'" \
	<("${BUILD:-build}/ntprof-bpf" serve --host --listen :10998 more 2>&1)
finish
