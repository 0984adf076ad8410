#!/bin/sh
# Makes the secrets of a new deployment in the folder given, by default this script's own: skyhook.env for the
# instances, .env for Compose. Files that are there stay as they are, so it may run again.
set -eu
folder=${1:-$(dirname "$0")}
umask 077

command -v openssl >/dev/null || {
  echo "make-settings.sh: openssl is not there, and makes the secrets: install it (apt-get install openssl)" >&2
  exit 1
}

# Each secret is made before a file is: a failure of openssl ends the script here, and in no empty secret.
if [ ! -e "$folder/skyhook.env" ]; then
  jwt_secret=$(openssl rand -hex 32)
  personal_data_key=$(openssl rand -base64 32)
  webhook_secrets=
  for provider in TASK_TRACKER SHARED_INBOX DEPLOY_PLATFORM CODE_HOST; do
    secret=$(openssl rand -hex 32)
    webhook_secrets="$webhook_secrets${provider}_WEBHOOK_SECRET=$secret
"
  done
  cat >"$folder/skyhook.env" <<EOF
# The same for all instances. Keep PERSONAL_DATA_KEY: without it no passport can be read again.
JWT_SECRET=$jwt_secret
PERSONAL_DATA_KEY=$personal_data_key
# What providers sign with: put in what each of them gave you or was given.
$webhook_secrets# OPERATOR_GATEWAY_URL=https://…
# OPERATOR_GATEWAY_SECRET=whsec_…
EOF
fi

if [ ! -e "$folder/.env" ]; then
  password=$(openssl rand -hex 24)
  echo "POSTGRES_PASSWORD=$password" >"$folder/.env"
fi
