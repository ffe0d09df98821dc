#!/usr/bin/env bash
# The three stories of `semel demo`, told with curl: a double click, a lost
# answer, and a service that dies after charging; each first without and then
# behind the gateway.
#
#   examples/curl/stories.sh [URL]
#
# URL is a running demo, as `semel demo` prints it. Without one, a demo is started
# from this checkout (which needs Go) and ended with the script. Needs bash and
# curl. Exits with 1 if a customer behind the gateway was not charged exactly once.
set -euo pipefail

credential='Authorization: Bearer demo-customer'
scratch=$(mktemp -d)
demo=''
failed=0

finish() {
  if [[ -n $demo ]]; then
    kill -INT "$demo" 2>/dev/null && wait "$demo" || true
  fi
  rm -rf "$scratch"
}
trap finish EXIT

# start_demo starts a demo on a free port and sets url.
start_demo() {
  local root
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
  echo 'Starting the demo …'
  (cd "$root/cmd/semel" && go build -o "$scratch/semel" .)
  mkfifo "$scratch/said"
  "$scratch/semel" demo --listen 127.0.0.1:0 >"$scratch/said" &
  demo=$!
  exec 3<"$scratch/said"
  local line
  while read -r line <&3; do
    if [[ $line == http://* ]]; then
      url=${line%/}
      return
    fi
  done
  echo 'the demo did not start' >&2
  exit 1
}

new_key() { # a random UUID, version 4
  local hex
  hex=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  echo "${hex:0:8}-${hex:8:4}-4${hex:13:3}-a${hex:17:3}-${hex:20:12}"
}

# new_order begins an order: a number for the shop, a key for the gateway.
new_order() {
  key=$(new_key)
  order="C-${key:0:6}"
}

# pay SIDE [FAULT] sends the order once and prints what came back.
pay() {
  local side=$1 fault=${2:-} answer status
  local args=(-s -m 20 -D - -X POST "$url/$side/charges"
    -H "$credential" -H 'Content-Type: application/json' -H "Idempotency-Key: $key"
    -d "{\"order\":\"$order\",\"customer\":\"Lin Mei\",\"item\":\"Tea set\",\"amount\":29900}")
  if [[ -n $fault ]]; then args+=(-H "Demo-Fault: $fault"); fi
  if answer=$(curl "${args[@]}" | tr -d '\r'); then
    status=$(sed -n '1s/^HTTP[^ ]* \([0-9]*\).*/\1/p' <<<"$answer")
    echo "    $status$(header Idempotent-Replayed <<<"$answer")$(problem <<<"$answer")"
  else
    echo '    no answer: the connection was cut'
  fi
}

header() { sed -n "s/^\($1: .*\)$/  \1/Ip"; }

problem() { sed -n 's/.*"code":"\([a-z-]*\)".*/  \1/p'; }

# pay_again SIDE retries until the shop is back.
pay_again() {
  local said
  for _ in $(seq 1 20); do
    said=$(pay "$1")
    if [[ $said != *upstream-unreachable* && $said != *'no answer'* ]]; then break; fi
    sleep 0.3
  done
  echo "$said"
}

# charges prints how often the shop's table says that the order was charged.
charges() {
  local answer
  for _ in $(seq 1 50); do
    if answer=$(curl -sf "$url/shop/charges?order=$order"); then
      sed 's/.*"count":\([0-9]*\).*/\1/' <<<"$answer"
      return
    fi
    sleep 0.2
  done
  echo "the shop does not answer at $url" >&2
  return 1
}

# verdict SIDE prints the count, and notes a wrong one behind the gateway.
verdict() {
  local n
  n=$(charges)
  echo "    → charges in the shop's table: $n"
  if [[ $1 == gateway && $n != 1 ]]; then failed=1; fi
}

title() {
  case $1 in
    shop) echo '  unprotected:' ;;
    gateway) echo '  behind semel proxy:' ;;
  esac
}

double_click() {
  echo '1. Double click on Pay: two requests at once, one key'
  for side in shop gateway; do
    new_order
    title $side
    pay $side & local first=$!
    pay $side & local second=$!
    wait $first $second
    verdict $side
  done
}

lost_answer() {
  echo '2. The answer is lost and the client retries with the same key'
  for side in shop gateway; do
    new_order
    title $side
    pay $side lose-answer
    pay $side
    verdict $side
  done
}

dead_shop() {
  echo '3. The service dies after charging; the client retries with the same key'
  for side in shop gateway; do
    new_order
    title $side
    pay $side die-after-charge
    pay_again $side
    if [[ $side == gateway ]]; then
      charges >/dev/null # the shop is back
      echo "    the operator looks in the shop's books: $(curl -s -X POST "$url/operator/resolve" -d "key=$key")"
      pay $side
    fi
    verdict $side
  done
}

url=${1:-}
if [[ -z $url ]]; then start_demo; fi
url=${url%/}
double_click
lost_answer
dead_shop
if [[ $failed != 0 ]]; then
  echo 'A customer behind the gateway was not charged exactly once: please report this.' >&2
fi
exit $failed
