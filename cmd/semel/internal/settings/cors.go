package settings

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/semel-go/semel/cmd/semel/internal/strictyaml"
)

// CORS says which browsers' pages may call a path.
type CORS struct {
	Origins     []string // scheme://host[:port], or the single *
	Credentials bool
	MaxAge      time.Duration // 0: the browser's own
	// PassPreflight leaves preflights to the upstream.
	PassPreflight bool
}

func readCORS(node strictyaml.Node) *CORS {
	if !node.Present() {
		return nil
	}
	values := node.Mapping("origins", "credentials", "max-age", "preflight")
	c := &CORS{}
	for _, origin := range values["origins"].List() {
		if text, ok := origin.Text(); ok {
			if err := checkOrigin(text); err != nil {
				origin.Fail("%v", err)
			}
			c.Origins = append(c.Origins, text)
		}
	}
	c.Credentials, _ = values["credentials"].Bool()
	c.readRest(values)
	c.check(node, values)
	return c
}

func (c *CORS) readRest(values map[string]strictyaml.Node) {
	if text, ok := values["max-age"].Text(); ok {
		age, err := parseDuration(text)
		if err != nil {
			values["max-age"].Fail("%v", err)
		}
		c.MaxAge = age
	}
	if word, ok := values["preflight"].Text(); ok {
		word, err := oneOf("answer", "pass")(word)
		if err != nil {
			values["preflight"].Fail("%v", err)
		}
		c.PassPreflight = word == "pass"
	}
}

func (c *CORS) check(node strictyaml.Node, values map[string]strictyaml.Node) {
	all := false
	for _, origin := range c.Origins {
		all = all || origin == "*"
	}
	switch {
	case !values["origins"].Present():
		node.Fail("name the origins that may call, such as [https://shop.example]")
	case all && len(c.Origins) > 1:
		values["origins"].Fail("* stands for all origins; write it alone, or name them")
	case all && c.Credentials:
		values["credentials"].Fail("browsers send no credentials to *; name the origins")
	}
	if c.PassPreflight && c.MaxAge > 0 {
		values["max-age"].Fail("the upstream answers the preflights, so it says their age; take one of the two out")
	}
}

func checkOrigin(s string) error {
	if s == "*" {
		return nil
	}
	u, err := url.Parse(s)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Scheme+"://"+u.Host == s {
		return nil
	}
	if s == "null" {
		return errors.New("null is the origin of sandboxed pages and files, of anybody's; it cannot be allowed")
	}
	return fmt.Errorf("%q is no origin; write scheme and host as browsers send them, such as https://shop.example", s)
}
