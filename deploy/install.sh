#!/bin/sh
# Installs the program `skyhook` of a release into SKYHOOK_INSTALL_DIR (default: ~/.local/bin), for the current user.
# Usage: install.sh [VERSION]. SKYHOOK_BASE_URL names another place, whose folder v<VERSION> has the release.
# Checks the archive's SHA-256, and the signature of the checksums if minisign is installed.
set -eu

# Filled in by a release.
release_version='@VERSION@'
release_base='@BASE_URL@'
public_key='@PUBLIC_KEY@'

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

needs() {
  command -v "$1" >/dev/null 2>&1 || fail "$1 is not installed. Install it first."
}

# Prints the platform as archives name it.
platform() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "There is no program for $(uname -s). Linux and macOS have one; for Windows, use npm." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) fail "There is no program for $(uname -m). x86_64 and arm64 have one." ;;
  esac
  # "musl libc (x86_64)", on standard error and with an exit code of 1.
  case $(ldd --version 2>&1 || true) in
    musl*) libc=-musl ;;
    *) libc='' ;;
  esac
  echo "$system-$cpu$libc"
}

# download URL FILE. A download that is cut off is an error, at the latest when its sum differs.
download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --proto-redir =https --connect-timeout 10 --max-time 900 \
      --output "$2" "$1"
  else
    wget -q -T 30 -O "$2" "$1"
  fi || fail "$1 could not be downloaded. Check the version and the network."
}

# Linux has the first one, macOS the second.
sha256() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi |
    cut -d ' ' -f 1
}

check_signature() {
  if [ "${public_key#@}" != "$public_key" ]; then
    echo "Signature not checked: this copy of install.sh has no public key. Use that of a release."
  elif ! command -v minisign >/dev/null 2>&1; then
    echo "Signature not checked: minisign is not installed. The SHA-256 is checked."
  else
    download "$url/checksums.txt.minisig" checksums.txt.minisig
    minisign -V -q -P "$public_key" -m checksums.txt ||
      fail "The signature of checksums.txt is wrong. Nothing is installed. Report it."
    echo "Signature verified."
  fi
}

# All in a function: a script that is cut off while a shell reads it does nothing.
install() {
  version=${1:-$release_version}
  version=${version#v}
  case $version in
    '' | @* | *[!0-9A-Za-z.+-]*) fail "Name a version: install.sh 0.1.0" ;;
  esac
  base=${SKYHOOK_BASE_URL:-$release_base}
  [ "${base#@}" = "$base" ] || fail "Set SKYHOOK_BASE_URL, or use the install.sh of a release."
  url=${base%/}/v$version
  for tool in uname tar gzip mktemp; do needs "$tool"; done
  command -v sha256sum >/dev/null 2>&1 || needs shasum
  command -v curl >/dev/null 2>&1 || needs wget
  target=$(platform)
  name=skyhook-$version-$target
  folder=${SKYHOOK_INSTALL_DIR:-${HOME:?Set HOME or SKYHOOK_INSTALL_DIR}/.local/bin}
  mkdir -p "$folder" || fail "$folder cannot be made. Set SKYHOOK_INSTALL_DIR to a folder of yours."
  folder=$(cd "$folder" && pwd)
  # In the same folder, so that the last step is a rename.
  temporary=$(mktemp -d "$folder/.skyhook-install.XXXXXX") ||
    fail "$folder cannot be written. Set SKYHOOK_INSTALL_DIR to a folder of yours."
  trap 'rm -rf "$temporary"' EXIT
  trap 'exit 1' HUP INT TERM
  cd "$temporary"

  echo "Downloading $name from $url"
  download "$url/checksums.txt" checksums.txt
  check_signature
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" checksums.txt)
  [ -n "$expected" ] || fail "The release has no $name.tar.gz. Nothing is installed."
  download "$url/$name.tar.gz" archive.tar.gz
  actual=$(sha256 archive.tar.gz)
  [ "$actual" = "$expected" ] ||
    fail "$name.tar.gz is damaged: its SHA-256 is $actual, not $expected. Nothing is installed."
  tar -xzf archive.tar.gz "$name/skyhook"
  chmod 755 "$name/skyhook"
  installed=$("$name/skyhook" version) ||
    fail "The program does not start here. x86_64 needs AVX2, Alpine: apk add libstdc++. Nothing is installed."
  mv -f "$name/skyhook" "$folder/skyhook"

  echo "Installed $folder/skyhook: $installed"
  case :$PATH: in
    *:"$folder":*) echo "Start it with examples: skyhook demo" ;;
    *) echo "Add it to your PATH: export PATH=\"$folder:\$PATH\"" ;;
  esac
}

install "$@"
