#!/usr/bin/env bash
# Installs the package PACKAGE (a URL or a path) into the folder INTO. SHA256 pins its content.
set -eu
if [ -z "${PACKAGE:-}" ]; then
  echo 'Set "package" to the URL or path of sluice-VERSION.tgz, or "command" to an installed sluice.' >&2
  exit 2
fi
mkdir -p "$INTO"
case $PACKAGE in
  http://* | https://*)
    if [ -z "${SHA256:-}" ]; then
      echo 'Set "sha256": a package from the network is used only with a known content.' >&2
      exit 2
    fi
    curl --fail --silent --show-error --location --retry 3 --output "$INTO/sluice.tgz" "$PACKAGE"
    ;;
  *) cp "$PACKAGE" "$INTO/sluice.tgz" ;;
esac
if [ -n "${SHA256:-}" ]; then printf '%s  %s\n' "$SHA256" "$INTO/sluice.tgz" | sha256sum --check --quiet -; fi
npm install --prefix "$INTO" --ignore-scripts --omit=dev --no-audit --no-fund "$INTO/sluice.tgz"
