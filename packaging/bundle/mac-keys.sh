#!/usr/bin/env bash
# Puts the signing certificate into a keychain of its own, and the account for notarization beside it. Everything comes in variables:
# CERTIFICATE (base64 of a .p12), CERTIFICATE_PASSWORD, APPLE_ID, APPLE_TEAM, APPLE_PASSWORD, GRUS_NOTARY (the profile's name).
set -euo pipefail
keychain="${RUNNER_TEMP:?}/signing.keychain-db"
password=$(openssl rand -base64 24)
certificate="$RUNNER_TEMP/certificate.p12"
printf '%s' "${CERTIFICATE:?}" | base64 --decode >"$certificate"
security create-keychain -p "$password" "$keychain"
security set-keychain-settings -lut 7200 "$keychain"
security unlock-keychain -p "$password" "$keychain"
security import "$certificate" -k "$keychain" -P "$CERTIFICATE_PASSWORD" -T /usr/bin/codesign
security set-key-partition-list -S apple-tool:,apple: -s -k "$password" "$keychain" >/dev/null
security list-keychains -d user -s "$keychain" login.keychain-db
rm "$certificate"
if [ -n "${GRUS_NOTARY:-}" ]; then
  xcrun notarytool store-credentials "$GRUS_NOTARY" --apple-id "$APPLE_ID" --team-id "$APPLE_TEAM" --password "$APPLE_PASSWORD" --keychain "$keychain"
  # notarytool reads no other keychain than the login one unless it is named
  [ -z "${GITHUB_ENV:-}" ] || echo "GRUS_KEYCHAIN=$keychain" >>"$GITHUB_ENV"
fi
