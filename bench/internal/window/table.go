package window

import (
	"fmt"
	"strings"
	"time"
)

// Table is one table of figures, as docs show it.
type Table struct {
	Title string
	Notes []string // sentences under the title
	rows  []string
}

// Add appends the figures of one run. The first contender is what the others are
// compared with.
func (t *Table) Add(what string, figures []Figure) {
	base := figures[0]
	for _, f := range figures {
		t.rows = append(t.rows, fmt.Sprintf("| %s | %s | %.0f | %s | %.2f× | %.2f× |", what, f.Name,
			f.PerSecond, f.CPU.Round(100*time.Nanosecond), f.PerSecond/base.PerSecond, float64(base.CPU)/float64(f.CPU)))
	}
}

// Callers names a load.
func Callers(n int) string {
	if n == 1 {
		return "1 caller"
	}
	return fmt.Sprintf("%d callers", n)
}

// Markdown renders the table.
func (t *Table) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", t.Title, strings.Join(t.Notes, "\n"))
	b.WriteString("| load | program | cycles/s | CPU a cycle | speed ÷ the first | thrift ÷ the first |\n|---|---|---|---|---|---|\n")
	b.WriteString(strings.Join(t.rows, "\n"))
	b.WriteString("\n")
	return b.String()
}
