package frontend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// htmxPage has the recipe of docs/client-js.md.
const htmxPage = `<form hx-post="/api" hx-target="#answer" hx-swap="innerHTML"><input name="amount" value="10"><button>Pay</button></form>
<p id="answer"></p>
<script src="/htmx.js"></script>` + scriptTag + `
<script>` + htmxRecipe + `
document.body.addEventListener("htmx:sendError", () => { document.title = "lost"; });
</script>`

const htmxRecipe = `
const intents = new WeakMap();

document.body.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb === "get") return;
  if (!intents.has(detail.elt)) intents.set(detail.elt, semel.newIntent());
  const content = JSON.stringify([detail.path, [...detail.formData]]);
  detail.headers["Idempotency-Key"] = intents.get(detail.elt).changed(content);
});

document.body.addEventListener("htmx:afterRequest", ({ detail: { elt, xhr } }) => {
  if (!xhr.status) return; // no answer: the key stays
  const headers = {};
  for (const name of ["Content-Type", "Idempotent-Replayed"]) {
    const value = xhr.getResponseHeader(name);
    if (value) headers[name] = value;
  }
  intents.get(elt)?.settled(new Response(xhr.response || null, { status: xhr.status, headers }));
});
`

// An htmx form whose answer is lost: the user presses again and has one order. After
// the answer the next one is another.
func TestHTMX(t *testing.T) {
	s := open(t, htmxPage)
	s.losing.Store(true)
	b := s.tab()
	b.click(1)
	b.await(`document.title === "lost"`)
	s.losing.Store(false)
	b.click(1)
	b.await(`document.querySelector("#answer").textContent.includes("Order 1")`)
	s.has(t, "10")
	s.oneKey(2)
	b.click(1)
	b.await(`document.querySelector("#answer").textContent.includes("Order 2")`)
	s.has(t, "10", "10")
}

func TestRecipeIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "client-js.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```js"+htmxRecipe+"```") {
		t.Error("docs/client-js.md shows another recipe for htmx")
	}
}
