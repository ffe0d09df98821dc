package demo

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/demo/schemes"
)

// schemeView is a scheme, the wrong way beside the right one.
type schemeView struct {
	ID     string
	Number int
	Words  words
	Ways   []wayView
}

// Says returns one of the scheme's texts.
func (s schemeView) Says(what string) string { return s.Words["scheme."+s.ID+"."+what] }

// wayView is one side of a scheme, and its last run.
type wayView struct {
	Scheme, Way string
	Words       words
	Count       string
	Caption     string
	Verdict     string // none, good or bad
	Playing     bool
	Play        string // what the button says
	Note        string
	Code        schemes.Code
	Steps       []stepView
}

// ElementID is the way's place in the page.
func (v wayView) ElementID() string { return v.Scheme + "-" + v.Way }

// Says returns one of the side's texts.
func (v wayView) Says(what string) string {
	return cmp.Or(v.Words["scheme."+v.Scheme+"."+v.Way+"."+what], v.Words["way."+v.Way+"."+what])
}

// stepView is one thing that happened.
type stepView struct{ Time, Kind, Who, Text string }

func viewSchemes(p *schemes.Player, before int, w words) []schemeView {
	var all []schemeView
	for i, s := range schemes.All() {
		v := schemeView{ID: s.ID, Number: before + i + 1, Words: w}
		for _, way := range s.Ways {
			r, begun := p.Last(s.ID, way.ID)
			v.Ways = append(v.Ways, viewWay(s.ID, way, r, begun, w))
		}
		all = append(all, v)
	}
	return all
}

func viewWay(scheme string, way schemes.Way, r schemes.Run, begun bool, w words) wayView {
	v := wayView{
		Scheme: scheme, Way: way.ID, Words: w, Code: way.Code,
		Count: "–", Caption: w["scheme."+scheme+".count"], Verdict: "none", Playing: begun && !r.Ended,
	}
	v.Play, v.Note = w["scheme."+scheme+".play"], v.Says("start")
	if begun {
		v.Play, v.Note = w["way.again"], w["way.playing"]
	}
	if r.Ended {
		v.end(r)
	}
	for _, s := range r.Steps {
		v.Steps = append(v.Steps, viewStep(scheme, s, r.Steps[0].At, w))
	}
	return v
}

// end shows what a run has come to.
func (v *wayView) end(r schemes.Run) {
	v.Count, v.Verdict, v.Note = fmt.Sprint(r.Count), "good", v.Says("end")
	if r.Count == 1 {
		v.Caption = v.Words["scheme."+v.Scheme+".count.one"]
	}
	if v.Way == schemes.Wrong || !r.AsWanted {
		v.Verdict = "bad"
	}
	if !r.AsWanted {
		v.Note = v.Words["way.unexpected"]
	}
}

// viewStep shows a step, and how long after the first one it was.
func viewStep(scheme string, s schemes.Step, first time.Time, w words) stepView {
	text := w["step."+scheme+"."+s.What]
	for name, value := range s.With {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return stepView{Time: fmt.Sprintf("+%.3f s", s.At.Sub(first).Seconds()), Kind: string(s.Tone), Who: w["who."+s.Who], Text: text}
}
