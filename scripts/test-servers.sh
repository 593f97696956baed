#!/bin/sh
# Installs what tests talk to (PostgreSQL, Redis, Dovecot, Cyrus, Chromium, axe-core) where that is possible: on Debian, as root.
# The tests start their own copies on free loopback ports; nothing is started here. Elsewhere one line says what is missing.
set -eu

have_postgres() { command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }
have_redis() { command -v redis-server >/dev/null 2>&1; }
have_dovecot() { command -v dovecot >/dev/null 2>&1 || [ -x /usr/sbin/dovecot ]; }
# Debian lets only one IMAP server be installed. Of Cyrus, the part that it keeps apart is unpacked beside Dovecot.
cyrus=/usr/local/lib/deskhand-tests/cyrus
have_cyrus() { [ -x "$cyrus/imapd" ] && [ -x /usr/lib/cyrus/bin/master ]; }
have_chromium() { command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1; }

# axe-core finds what people with disabilities cannot use on a page; npm brings it.
axe=/usr/local/lib/deskhand-tests/axe
have_axe() { [ -f "$axe/node_modules/axe-core/axe.min.js" ]; }
install_axe() {
    mkdir -p "$axe" 2>/dev/null && npm install --prefix "$axe" --no-save --no-audit --no-fund axe-core@4 >/dev/null 2>&1
}
have_axe || { command -v npm >/dev/null 2>&1 && install_axe; } ||
    echo "Could not install axe-core with npm. Its tests are left out." >&2

packages=""
have_postgres || packages="$packages postgresql"
have_redis || packages="$packages redis-server"
have_dovecot || packages="$packages dovecot-imapd"
have_cyrus || packages="$packages cyrus-common"
have_chromium || packages="$packages chromium"
[ -n "$packages" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "Not installed:$packages. Their tests are left out (on Debian: sudo apt-get install$packages)." >&2
    exit 0
fi

echo "Installing$packages for the tests" >&2
# No default cluster, and no daemon started by the packages themselves.
mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] || echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
unpack_cyrus() {
    folder=$(mktemp -d)
    chmod 755 "$folder"
    (cd "$folder" && apt-get download -qq cyrus-imapd && dpkg -x cyrus-imapd_*.deb .) &&
        mkdir -p "$cyrus" && cp "$folder/usr/lib/cyrus/bin/imapd" "$cyrus/imapd"
    unpacked=$?
    rm -rf "$folder"
    return $unpacked
}
log=$(mktemp)
# shellcheck disable=SC2086 # a list of packages
if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages; } >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    echo "Could not install:$packages. Their tests are left out." >&2
elif ! have_cyrus && ! unpack_cyrus >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    echo "Could not unpack Cyrus. Its tests are left out." >&2
fi
rm -f "$log"
