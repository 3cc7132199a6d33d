#!/bin/sh
# Creates the secrets of deploy/compose.yaml's production in a folder: an authority, a certificate for
# every service, passwords, and the identities of callers.
#
#     deploy/secrets.sh FOLDER
#
# Existing files stay, except certificates that expire within 30 days, which the same authority renews.
# The file NAME.names adds names to a certificate, one per line (DNS:api.example.org).
# The users of the containers can read the files; only you can read the folder.
set -eu
days=90
renewed_s=$((30 * 24 * 60 * 60))
services="orchestrator generator scorer query-builder retriever evaluator records worker gateway console"
servers="triton opensearch postgresql redis"

[ $# -eq 1 ] || { echo "usage: secrets.sh FOLDER" >&2; exit 2; }
command -v openssl >/dev/null || { echo "secrets.sh needs openssl" >&2; exit 1; }
umask 022
mkdir -p "$1"
chmod 700 "$1"
cd "$1"

key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }
missing() { [ ! -s "$1" ]; }
# Writes standard input to the file: completely, or not at all.
keep() { cat > "$1.part" && mv "$1.part" "$1"; }

if missing ca.pem; then
  if ! missing authority.key; then
    echo "secrets.sh: ca.pem of authority.key is missing in $PWD: restore it; or, for a new authority," \
      "remove authority.key and every NAME.pem" >&2
    exit 1
  fi
  key authority.key
  openssl req -x509 -new -key authority.key -days 3650 -subj "/CN=scaar authority" | keep ca.pem
fi

# A renewed certificate keeps its key, and files are overwritten in place, so that running containers see
# the new content. Without a new certificate, the old one stays as it is.
certificate() {
  openssl x509 -in "$1.pem" -checkend "$renewed_s" >/dev/null 2>&1 && return
  if missing authority.key; then echo "secrets.sh: $1.pem needs authority.key in $PWD" >&2; exit 1; fi
  if missing "$1.key"; then key "$1.key"; chmod 644 "$1.key"; fi
  more=
  if [ -s "$1.names" ]; then more=",$(paste -s -d , "$1.names")"; fi
  printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1%s\n' "$1" "$more" > names
  openssl req -new -key "$1.key" -subj "/CN=$1" |
    openssl x509 -req -CA ca.pem -CAkey authority.key -set_serial "0x$(openssl rand -hex 16)" \
      -days "$days" -extfile names -out "$1.pem.part" 2>openssl.log || {
    cat openssl.log >&2
    echo "secrets.sh: openssl made no $1.pem; does $1.names have a name per line, as DNS:NAME?" >&2
    rm -f names openssl.log "$1.pem.part"
    exit 1
  }
  cat "$1.pem.part" > "$1.pem"
  rm names openssl.log "$1.pem.part"
  echo "$1.pem"
}
for name in $services $servers client; do certificate "$name"; done

for name in opensearch-password postgresql-password records-password redis-password client.token; do
  if missing "$name"; then openssl rand -hex 32 | tr -d '\n' | keep "$name"; fi
done
if missing evaluations-database; then
  printf 'postgresql://scaar:%s@postgresql/evaluations' "$(cat postgresql-password)" |
    keep evaluations-database
fi
if missing records-database; then
  printf 'postgresql://records:%s@postgresql/records' "$(cat records-password)" | keep records-database
fi
if missing evaluations-broker; then
  printf 'rediss://:%s@redis:6379/0?ssl_cert_reqs=required&ssl_ca_certs=/run/secrets/scaar-ca.pem' \
    "$(cat redis-password)" | keep evaluations-broker
fi
if missing redis.conf; then printf 'requirepass %s\n' "$(cat redis-password)" | keep redis.conf; fi
if missing identities.yaml; then
  keep identities.yaml <<END
# Without this section, every tenant may read every index.
# tenants:
#   client:
#     indexes: {docs: {}, shared: {tenant: client}}
#   evaluations:
#     indexes: {"*": {}}
tokens:                             # the SHA-256 of a token: its tenant
  $(openssl dgst -sha256 -r client.token | cut -d ' ' -f 1): client
certificates:
  evaluator: evaluations
  worker: evaluations
END
fi
