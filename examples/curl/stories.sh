#!/usr/bin/env bash
# The stories of `semel demo`, told with curl: a double click, a lost answer, and a
# service that dies after charging, each first without and then behind the gateway;
# a stuffed ballot and a webhook that comes twice, each first without and then with
# the library; and requests that the gateway refuses.
#
#   examples/curl/stories.sh [URL]
#
# URL is a running demo, as `semel demo` prints it. Without one, a demo is started
# from this checkout (which needs Go) and ended with the script. Needs bash and
# curl. Exits with 1 if something guarded did not happen exactly once, or if the
# gateway gave another answer than the one it should.
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
  local side=$1 fault=${2:-} answer
  local args=(-s -m 20 -D - -X POST "$url/$side/charges"
    -H "$credential" -H 'Content-Type: application/json' -H "Idempotency-Key: $key"
    -d "{\"order\":\"$order\",\"customer\":\"Lin Mei\",\"item\":\"Tea set\",\"amount\":29900}")
  if [[ -n $fault ]]; then args+=(-H "Demo-Fault: $fault"); fi
  if answer=$(curl "${args[@]}" | tr -d '\r'); then
    shown <<<"$answer"
  else
    echo '    no answer: the connection was cut'
  fi
}

# shown prints the status line and what else tells of a replay or a problem.
shown() {
  local answer
  answer=$(cat)
  echo "    $(sed -n '1s/^HTTP[^ ]* \([0-9]*\).*/\1/p' <<<"$answer")$(header Idempotent-Replayed <<<"$answer")$(problem <<<"$answer")"
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
charges() { count "shop/charges?order=$order"; }

# count PATH asks a service what its table says, also while it is down.
count() {
  local answer
  for _ in $(seq 1 50); do
    if answer=$(curl -sf "$url/$1"); then
      sed 's/.*"count":\([0-9]*\).*/\1/' <<<"$answer"
      return
    fi
    sleep 0.2
  done
  echo "nobody answers at $url/$1" >&2
  return 1
}

# verdict SIDE WHAT PATH prints a count, and notes a wrong one on a guarded side.
verdict() {
  local n
  n=$(count "$3")
  echo "    → $2: $n"
  if [[ $1 == gateway || $1 == library ]] && [[ $n != 1 ]]; then failed=1; fi
}

verdict_charges() { verdict "$1" "charges in the shop's table" "shop/charges?order=$order"; }

title() {
  case $1 in
    shop | plain) echo '  unprotected:' ;;
    library) echo '  with the library:' ;;
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
    verdict_charges $side
  done
}

lost_answer() {
  echo '2. The answer is lost and the client retries with the same key'
  for side in shop gateway; do
    new_order
    title $side
    pay $side lose-answer
    pay $side
    verdict_charges $side
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
    verdict_charges $side
  done
}

# vote SIDE prints what a member's vote, which has no key, is answered with.
vote() {
  curl -s -m 20 -D - -X POST "$url/$1/votes" -H "Authorization: Bearer $member" \
    -H 'Content-Type: application/json' -d '{"tea":"Tieguanyin"}' | tr -d '\r' | shown
}

stuffed_ballot() {
  echo '4. A member votes four times; the service makes the key, of member and tea'
  for side in plain library; do
    member="M-$(new_key)"
    title $side
    vote $side & local first=$!
    vote $side & local second=$!
    wait $first $second
    vote $side
    vote $side
    verdict $side "votes in the office's table" "$side/votes?member=$member"
  done
}

# deliver SIDE [FAULT] lets the payment provider deliver the event once.
deliver() {
  local args=(-s -m 20 -o "$scratch/heard" -w '%{http_code}' "$url/provider/deliver" -d "side=$1&event=$event&order=$order")
  if [[ -n ${2:-} ]]; then args+=(-H "Demo-Fault: $2"); fi
  case $(curl "${args[@]}") in
    204) echo '    delivered, and acknowledged' ;;
    *) echo "    $(cat "$scratch/heard")" ;;
  esac
}

webhook_twice() {
  echo '5. A webhook comes again, because its acknowledgement was lost'
  for side in plain library; do
    new_order
    event="evt_$key"
    title $side
    deliver $side lose-answer
    deliver $side
    verdict $side "parcels in the office's table" "$side/parcels?order=$order"
  done
}

# broken WHAT CODE BODY HEADER… sends a payment to the gateway with the given
# headers and compares the code of the answer.
broken() {
  local what=$1 want=$2 body=$3 args=() answer code
  shift 3
  for field in "$@"; do args+=(-H "$field"); done
  answer=$(curl -s -m 20 -X POST "$url/gateway/charges" -H 'Content-Type: application/json' "${args[@]}" -d "$body")
  code=$(problem <<<"$answer" | tr -d ' ')
  echo "  $what: ${code:-done}"
  if [[ ${code:-done} != "$want" ]]; then failed=1; fi
}

break_it() {
  echo '6. Requests that break the rules'
  new_order
  local body="{\"order\":\"$order\",\"customer\":\"Lin Mei\",\"item\":\"Tea set\",\"amount\":29900}"
  broken 'no key' missing-key "$body" "$credential"
  broken 'an empty key' invalid-key "$body" "$credential" 'Idempotency-Key;'
  broken 'two key lines' invalid-key "$body" "$credential" "Idempotency-Key: $key" "Idempotency-Key: $(new_key)"
  broken 'a comma list' invalid-key "$body" "$credential" 'Idempotency-Key: a, b'
  broken 'a quote that never closes' invalid-key "$body" "$credential" "Idempotency-Key: \"$key"
  broken 'a key of 256 characters' invalid-key "$body" "$credential" "Idempotency-Key: $(printf 'k%.0s' $(seq 256))"
  broken 'nobody'"'"'s key' no-principal "$body" "Idempotency-Key: $key"
  broken 'a good key' done "$body" "$credential" "Idempotency-Key: $key"
  broken 'another body under it' key-reused "${body/29900/1}" "$credential" "Idempotency-Key: $key"
  broken 'another user with the same key' done "$body" 'Authorization: Bearer somebody-else' "Idempotency-Key: $key"
}

url=${1:-}
if [[ -z $url ]]; then start_demo; fi
url=${url%/}
double_click
lost_answer
dead_shop
stuffed_ballot
webhook_twice
break_it
if [[ $failed != 0 ]]; then
  echo 'Something guarded did not happen exactly once, or an answer is wrong: please report this.' >&2
fi
exit $failed
