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
	// Columns are the headings. Default: those of Add.
	Columns []string
	rows    []string
}

// AddRow appends a row of other figures.
func (t *Table) AddRow(cells ...string) {
	t.rows = append(t.rows, line(cells))
}

func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// Add appends the figures of one run. The first contender is what the others are
// compared with.
func (t *Table) Add(what string, figures []Figure) {
	base := figures[0]
	for _, f := range figures {
		t.AddRow(what, f.Name, fmt.Sprintf("%.0f", f.PerSecond), f.CPU.Round(100*time.Nanosecond).String(),
			times(f.PerSecond/base.PerSecond), times(float64(base.CPU)/float64(f.CPU)))
	}
}

func times(ratio float64) string { return fmt.Sprintf("%.2f×", ratio) }

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
	columns := t.Columns
	if columns == nil {
		columns = []string{"load", "program", "cycles/s", "CPU a cycle", "speed ÷ the first", "thrift ÷ the first"}
	}
	fmt.Fprintf(&b, "%s\n|%s\n", line(columns), strings.Repeat("---|", len(columns)))
	b.WriteString(strings.Join(t.rows, "\n"))
	b.WriteString("\n")
	return b.String()
}
