# The steps of .ci/run and .ci/nightly: each runs one command, notes how long it took, and goes on.
# No step ends by the clock: a slow machine only takes longer. Nothing runs twice.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CI=true NEXT_TELEMETRY_DISABLED=1
# A test that needs a program of the machine fails where it is missing, rather than being skipped.
export REQUIRE_SERVERS=1
passed=0
failed=0
times=''
output=$(mktemp)
failures=$(mktemp)
suites=$(mktemp)
trap 'rm -f "$output" "$failures" "$suites"' EXIT

# What Jest prints about timers and connections that a test left open. It exits with 0 all the same.
left_open='A worker process has failed to exit gracefully|Jest did not exit one second after'

# The exit code of a check that proves nothing, since the machine was too busy. The step fails, and says so.
inconclusive=75

# A step fails if its command does, or if a test left something open. What it printed last is shown again at
# the end, and the name of each test file that failed.
step() {
  local name=$1 result=ok code=0
  shift
  printf '\n== %s\n' "$name"
  SECONDS=0
  # No plain pipe: it would wait for every process that a step leaves behind.
  "$@" </dev/null > >(tee "$output") 2>&1 || code=$?
  sleep 1 # tee may still be writing
  if [ "$code" -eq 0 ] && ! grep -qE "$left_open" "$output"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    result=FAILED
    [ "$code" -eq "$inconclusive" ] && result=UNSURE
    awk '/^FAIL / { print $2 }' "$output" | sort -u | while read -r path; do
      printf '  %s  (%s)\n' "$path" "$name"
    done >>"$suites"
    {
      printf '\n== FAILED: %s\n' "$name"
      grep -E "●|VIOLATION|INCONCLUSIVE|Left open by|[Ee]rror|$left_open" "$output" | head -n 40
      printf '…\n'
      tail -n 60 "$output"
    } >>"$failures"
  fi
  printf '== %s, %d s\n' "$result" "$SECONDS"
  times+=$(printf '%6d s  %-6s  %s' "$SECONDS" "$result" "$name")$'\n'
}

# Arguments: program:package, a pair for each program that tests drive. Debian or Ubuntu, as root or with sudo.
install_programs() {
  local pair missing=() as_root=()
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}"
}

# The last thing that a script calls. Its last line is `N passed, N failed`.
finish() {
  cat "$failures"
  printf '\n%s' "$times"
  [ -s "$suites" ] && printf '\nTest files that failed:\n' && cat "$suites"
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}
