# Functions for the scripts of all packages.

create_user() {
  if ! getent passwd sluice >/dev/null; then
    useradd --system --user-group --no-create-home --home-dir /var/lib/sluice --shell /usr/sbin/nologin sluice
  fi
  [ -e /var/lib/sluice ] || install -d -m 700 -o sluice -g sluice /var/lib/sluice
}

# Stops the daemon before its files are replaced, because it loads parts of its code on demand. Owed payloads are on disk.
# $1 is the command that stops a unit. If $2 is "upgrade", start_stopped_units starts the units again.
stop_units() {
  [ -d /run/systemd/system ] || return 0
  for unit in sluice-sync.timer sluice-sync.service sluice.service; do
    case $(systemctl show --property=ActiveState --value "$unit") in
      active | reloading | activating)
        # The timer starts the next sync.
        [ "$2" != upgrade ] || [ "$unit" = sluice-sync.service ] || echo "$unit" >>/run/sluice-stopped-units
        "$1" stop "$unit"
        ;;
    esac
  done
}

# Not with deb-systemd-invoke, which starts only enabled units: these were running until now.
start_stopped_units() {
  [ -f /run/sluice-stopped-units ] || return 0
  while read -r unit; do
    systemctl start "$unit" || echo "sluice: $unit doesn't start; see: journalctl -u $unit" >&2
  done </run/sluice-stopped-units
  rm -f /run/sluice-stopped-units
}

reload_units() {
  [ ! -d /run/systemd/system ] || systemctl --system daemon-reload >/dev/null || true
}
