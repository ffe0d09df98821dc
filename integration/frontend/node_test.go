package frontend

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/semel-go/semel/semeltest"
)

const nodeScript = `
import { idempotentFetch, replayed } from "./dist/semel.js";
let replays = 0;
for (let n = 0; n < 10; n++) {
	const body = new FormData();
	body.append("amount", String(n));
	const answer = await idempotentFetch(process.argv[1] + "/api", { method: "POST", body }, { backoff: 5 });
	const { text } = await answer.json();
	if (text !== "Order " + (n + 1)) throw new Error(text);
	if (replayed(answer)) replays++;
}
console.log(replays);
`

// Node.js, through a network that loses requests, answers, and halves of answers.
func TestNode(t *testing.T) {
	s := open(t, "")
	for range 10 {
		s.cut.Next(semeltest.Drop, semeltest.CutReply, semeltest.None, semeltest.CutHalf, semeltest.None)
	}
	node := exec.CommandContext(t.Context(), filepath.Join(client, "..", "scripts", "js"), "node", "--input-type=module", "-e", nodeScript, s.url)
	out, err := node.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if replays := strings.TrimSpace(string(out)); replays == "0" {
		t.Error("no answer was a replay")
	}
	s.has(t, strings.Split("0123456789", "")...)
	keys := slices.Compact(s.keys())
	if len(keys) != 10 {
		t.Errorf("%d keys for 10 orders: %q", len(keys), keys)
	}
}
