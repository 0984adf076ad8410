#!/bin/sh
# Runs a Skyhook command with the user, settings, secrets and folder of skyhook.service, whether the service runs
# or not. Run as root: skyhook-as-service doctor
# As in the service, only /var/lib/skyhook is writable. Standard input and output are passed through.
set -eu
service=skyhook.service
# A fixed unit name determines the folder of the credentials (%d).
command=skyhook-command-$$.service

# Properties to copy from the unit and its drop-ins: the identity of the service and its inputs.
kept='DynamicUser|User|Group|SupplementaryGroups|StateDirectory|StateDirectoryMode|WorkingDirectory|UMask'
kept="$kept|Environment|EnvironmentFile|LoadCredential"
unit=$(systemctl cat "$service")
properties=$(printf '%s\n' "$unit" | grep -E "^($kept)=" |
  sed -e "s|%S|/var/lib|g" -e "s|%d|/run/credentials/$command|g" -e 's|^|--property=|')

# Split at line breaks only, because values may contain spaces.
IFS='
'
set -f
# Without --property=User, the dynamic user would be named after this unit instead of the service.
# shellcheck disable=SC2086
exec systemd-run --quiet --pipe --wait --collect --unit="$command" --property=User=skyhook $properties \
  /usr/local/bin/skyhook "$@"
