#!/bin/bash
# Starts OpenSearch in its image with TLS and the single user `scaar`, whose password is a secret.
# Its configuration is assembled in a writable folder, because the container's root is read-only.
set -euo pipefail
home=/usr/share/opensearch
given=/etc/scaar
secrets=/run/secrets
export OPENSEARCH_PATH_CONF=/tmp/config OPENSEARCH_TMPDIR=/tmp/opensearch

umask 077
mkdir -p "$OPENSEARCH_TMPDIR"
cp -r "$home/config" "$OPENSEARCH_PATH_CONF"
cp "$given/opensearch.yml" "$OPENSEARCH_PATH_CONF"
cp "$secrets/ca.pem" "$OPENSEARCH_PATH_CONF/ca.pem"
cp "$secrets/opensearch.pem" "$OPENSEARCH_PATH_CONF/node.pem"
cp "$secrets/opensearch.key" "$OPENSEARCH_PATH_CONF/node.key"

security=$OPENSEARCH_PATH_CONF/opensearch-security
cp "$given/roles.yml" "$given/roles_mapping.yml" "$security"
PASSWORD=$(cat "$secrets/opensearch-password")
export PASSWORD
hash=$("$home/plugins/opensearch-security/tools/hash.sh" -env PASSWORD | grep '^\$2')
unset PASSWORD
cat > "$security/internal_users.yml" <<END
_meta: {type: internalusers, config_version: 2}
scaar: {hash: "$hash"}
END

cd "$home"
exec bin/opensearch
