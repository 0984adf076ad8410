#!/bin/sh
# Usage: make-settings.sh [folder]. Generates the secrets of a new deployment: skyhook.env for the instances and
# .env for Compose. The default folder is that of this script. Existing files are not changed.
set -eu
folder=${1:-$(dirname "$0")}
umask 077

command -v openssl >/dev/null || {
  echo "make-settings.sh: openssl is not installed. Install it: apt-get install openssl" >&2
  exit 1
}

# Generates all secrets before it writes a file, so that an error of openssl leaves no empty secret.
if [ ! -e "$folder/skyhook.env" ]; then
  jwt_secret=$(openssl rand -hex 32)
  personal_data_key=$(openssl rand -base64 32)
  cat >"$folder/skyhook.env" <<EOF
# The same for all instances. Back up PERSONAL_DATA_KEY: without it, stored passport data cannot be decrypted.
JWT_SECRET=$jwt_secret
PERSONAL_DATA_KEY=$personal_data_key
# Webhook secrets do not belong here: a variable overrides their files in SECRETS_DIR and cannot be rotated by a command.
# OPERATOR_GATEWAY_URL=https://…
# OPERATOR_GATEWAY_SECRET=whsec_…
EOF
fi

if [ ! -e "$folder/.env" ]; then
  password=$(openssl rand -hex 24)
  echo "POSTGRES_PASSWORD=$password" >"$folder/.env"
fi
