#!/bin/sh
# Makes the secrets of a new deployment in the folder given, by default this script's own: skyhook.env for the
# instances, .env for Compose. Files that are there stay as they are, so it may run again.
set -eu
folder=${1:-$(dirname "$0")}
umask 077

if [ ! -e "$folder/skyhook.env" ]; then
  {
    echo "# The same for all instances. Keep PERSONAL_DATA_KEY: without it no passport can be read again."
    echo "JWT_SECRET=$(openssl rand -hex 32)"
    echo "PERSONAL_DATA_KEY=$(openssl rand -base64 32)"
    echo "# What providers sign with: put in what each of them gave you or was given."
    for provider in TASK_TRACKER SHARED_INBOX DEPLOY_PLATFORM CODE_HOST; do
      echo "${provider}_WEBHOOK_SECRET=$(openssl rand -hex 32)"
    done
    echo "# OPERATOR_GATEWAY_URL=https://…"
    echo "# OPERATOR_GATEWAY_SECRET=whsec_…"
  } >"$folder/skyhook.env"
fi

if [ ! -e "$folder/.env" ]; then
  echo "POSTGRES_PASSWORD=$(openssl rand -hex 24)" >"$folder/.env"
fi
