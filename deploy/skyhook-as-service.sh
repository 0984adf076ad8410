#!/bin/sh
# Runs a command of Skyhook as skyhook.service runs the server: as its user, with its settings, secrets and folder,
# whether the server runs or not. For root, as: skyhook-as-service doctor
# As with the service, only /var/lib/skyhook can be written; standard input and output go through.
set -eu
service=skyhook.service
# The name of its own tells it where systemd puts the secrets (%d).
command=skyhook-command-$$.service

# What of the unit, and of what `systemctl edit` added to it, makes who the service is and what it is given.
kept='DynamicUser|User|Group|SupplementaryGroups|StateDirectory|StateDirectoryMode|WorkingDirectory|UMask'
kept="$kept|Environment|EnvironmentFile|LoadCredential"
unit=$(systemctl cat "$service")
properties=$(printf '%s\n' "$unit" | grep -E "^($kept)=" |
  sed -e "s|%S|/var/lib|g" -e "s|%d|/run/credentials/$command|g" -e 's|^|--property=|')

# One property a line, whatever else is in it.
IFS='
'
set -f
# A user that is named after the unit, as the service's is, would be another than the service's.
# shellcheck disable=SC2086
exec systemd-run --quiet --pipe --wait --collect --unit="$command" --property=User=skyhook $properties \
  /usr/local/bin/skyhook "$@"
