# The environment of a page's commands: the real command line and real small tools; commands that would change this
# machine are only recorded.
# Here, simulations cover only one day, and only the one with JSON output is run, because they take long.
# Every command writes "location, exit code, words" to $RECORD; "-" instead of the code means that it was recorded and
# not run.
set -u
[ ! -t 1 ] || /usr/bin/stty -echo cols 116 rows 40
place=start
# On a terminal, the title of the window is the location of the current line.
at() {
  place=$1
  [ ! -t 1 ] || printf '\e]0;%s\a' "$place"
}
# Shows a line as typed, twelve seconds after the previous one.
show() {
  flags=(--import "$TOOLS/../journey/preloads/shifted-clock.ts")
  export CLOCK_AT=$((${CLOCK_AT-1796115600000} + 12000))
  printf '$ %s\n' "$1"
}
flags=()
record() {
  local code=$1 words
  shift
  printf -v words ' %q' "$@"
  printf '%s\t%s\t%s\n' "$place" "$code" "${words# }" >>"$RECORD"
}

# Runs until a line says that it's ready; on a terminal, its reader then presses Enter. A server continues until the
# page ends; a daemon ends immediately and must end successfully.
until_ready() {
  local line pid output
  if [ -t 1 ]; then
    "$NODE" "${flags[@]}" "$DOOR" "$@" &
    servers+=("$!")
    read -rs -t 200
    return
  fi
  mkfifo "pipe.$((++pipes))"
  "$NODE" "$DOOR" "$@" >"pipe.$pipes" 2>&1 &
  pid=$!
  servers+=("$pid")
  exec {output}<"pipe.$pipes"
  while IFS= read -r line <&"$output"; do
    printf '%s\n' "$line"
    case $line in *'"daemon.started"'* | *'"daemon.waiting"'* | *'service is listening'*) return 0 ;; esac
  done
  wait "$pid"
}
pipes=0
servers=()
end_servers() {
  local pid code
  for pid in "${servers[@]}"; do
    kill -TERM "$pid" 2>/dev/null
    wait "$pid"
    code=$?
    [ $code = 0 ] || record "$code" server
  done
  servers=()
}
trap end_servers EXIT

sluice() {
  local code=0
  case ${1-}${2+ $2} in
    simulate\ --json) "$NODE" "${flags[@]}" "$DOOR" "$@" --days 1 || code=$? ;;
    serve*) until_ready "$@" --port 0 || code=$? ;;
    run*) until_ready "$@" || code=$?; [ -n "${KEEP_DAEMON-}" ] || end_servers ;;
    login\ * | logins\ revoke | sync\ contacts | simulate*) code=- ;;
    *) "$NODE" "${flags[@]}" "$DOOR" "$@" || code=$? ;;
  esac
  record "$code" sluice "$@"
  [ "$code" = - ] || return "$code"
}
# Provides what a page assumes.
# A daemon is healthy a moment after it has logged its start.
daemon() {
  local tries=300
  KEEP_DAEMON=1 sluice run
  until "$NODE" "${flags[@]}" "$DOOR" health >/dev/null 2>&1 || [ $((--tries)) = 0 ]; do sleep 0.1; done
}
need_daemon() { [ ${#servers[@]} -gt 0 ] || daemon; }
lose_rows() {
  "$NODE" -e "new (require('node:sqlite').DatabaseSync)('shop.db').exec('delete from orders where id in (select id from orders limit (select count(*) * 2 / 3 from orders))')"
}
gain_row() {
  "$NODE" -e "new (require('node:sqlite').DatabaseSync)('shop.db').exec('insert into orders select max(id) + 1, customer, amount, created_at from orders')"
}
make_workbook() {
  "$NODE" --input-type=module -e "import write from '$TOOLS/../../node_modules/write-excel-file/node/index.js'; await write([[{ value: 'id' }], [{ value: 1 }]]).toFile('$1')"
}
deliver() {
  sluice apply --yes
  sluice sync
}
npx() { "$@"; }
sudo() {
  while [[ ${1-} == -* ]]; do shift; done
  "$@"
}
curl() {
  local code=0
  command curl --fail-with-body "$@" || code=$?
  record "$code" curl "$@"
  return "$code"
}
openssl() {
  local code=0
  command openssl "$@" || code=$?
  record "$code" openssl "$@"
}
jq() {
  local code=0
  "$NODE" "$TOOLS/jq-child.ts" "$@" || code=$?
  record "$code" jq "$@"
  return "$code"
}
npm() {
  record - npm "$@"
  [ "$1" != root ] || printf '%s\n' "$PWD/global"
}
docker() { record - docker "$@"; }
node() { record - node "$@"; }
systemctl() { record - systemctl "$@"; }
journalctl() { record - journalctl "$@"; }
apt-get() { record - apt-get "$@"; }
dnf() { record - dnf "$@"; }
install() { record - install "$@"; }
cp() { record - cp "$@"; }
rm() { record - rm "$@"; }
tar() { record - tar "$@"; }
chown() { record - chown "$@"; }
buildah() { record - buildah "$@"; }
podman() { record - podman "$@"; }
psql() { record - psql "$@"; }
git() { record - git "$@"; }
command_not_found_handle() {
  record 127 "$@"
  return 127
}
