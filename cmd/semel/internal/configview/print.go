package configview

import (
	"fmt"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
)

// Print writes the effective configuration as a file: flags with where each one
// comes from, then the routes with all that they inherit. Secrets are not shown.
func Print(w io.Writer, cfg *settings.Proxy) error {
	root := &mapping{}
	for _, s := range cfg.Settings {
		if s.Name != "config" && s.Value != "" {
			root.add(s.Name, scalar(s.Value)).LineComment = s.From
		}
	}
	root.addFormTokens(cfg.FormTokens)
	routes := &yaml.Node{Kind: yaml.SequenceNode}
	for _, t := range cfg.Routes {
		routes.Content = append(routes.Content, route(t))
	}
	if len(routes.Content) > 0 {
		root.add("routes", routes)
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(root.node()); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	return encoder.Close()
}

func route(t settings.Route) *yaml.Node {
	m := &mapping{}
	m.add("path", scalar(t.Path))
	m.add("name", scalar(t.Name))
	m.add("enabled", boolean(t.Enabled))
	m.add("observe", boolean(t.Observe))
	m.add("methods", list(t.Methods))
	m.add("principal", scalar(t.Principal.String()))
	m.add("key", list(t.KeyTexts()))
	if t.Verify != "" {
		m.add("verify", scalar(t.VerifyText()))
	}
	if t.Derived != nil {
		m.add("duplicates", scalar(t.Derived.Duplicates()))
	} else {
		m.add("require-key", boolean(t.RequireKey))
	}
	m.add("retention", scalar(settings.FormatDuration(t.Retention)))
	m.add("lease", scalar(settings.FormatDuration(t.Lease)))
	m.add("wait", scalar(settings.FormatDuration(t.Wait)))
	m.add("max-request-body", scalar(settings.FormatSize(t.MaxRequestBody)))
	m.add("max-response-body", scalar(settings.FormatSize(t.MaxResponseBody)))
	m.add("on-unknown", scalar(settings.FormatUnknown(t.Hold)))
	m.add("store-5xx", boolean(t.StoreErrors))
	m.add("fingerprint", content(t.JSON))
	m.addCORS(t.CORS)
	m.addQuota(t.Quota)
	return m.node()
}

func content(j *settings.JSON) *yaml.Node {
	if j == nil {
		return scalar("bytes")
	}
	fields := &mapping{}
	if len(j.Include) > 0 {
		fields.add("include", list(j.Include))
	}
	if len(j.Ignore) > 0 {
		fields.add("ignore", list(j.Ignore))
	}
	if len(fields.content) == 0 {
		return scalar("json")
	}
	whole := &mapping{}
	whole.add("json", fields.node())
	return whole.node()
}

func (m *mapping) addCORS(c *settings.CORS) {
	if c == nil {
		return
	}
	cors := &mapping{}
	cors.add("origins", list(c.Origins))
	cors.add("credentials", boolean(c.Credentials))
	if c.MaxAge > 0 {
		cors.add("max-age", scalar(settings.FormatDuration(c.MaxAge)))
	}
	preflight := "answer"
	if c.PassPreflight {
		preflight = "pass"
	}
	cors.add("preflight", scalar(preflight))
	m.add("cors", cors.node())
}

func (m *mapping) addFormTokens(t *settings.FormTokens) {
	if t == nil {
		return
	}
	tokens := &mapping{}
	tokens.add("secrets", list(t.Secrets))
	tokens.add("header", scalar(t.Header))
	tokens.add("field", scalar(t.Field))
	endpoints := &yaml.Node{Kind: yaml.SequenceNode}
	for _, e := range t.Endpoints {
		endpoint := &mapping{}
		endpoint.add("path", scalar(e.Path))
		endpoint.add("purpose", scalar(e.Purpose))
		endpoint.add("lifetime", scalar(settings.FormatDuration(e.Lifetime)))
		endpoint.add("principal", scalar(e.Principal.String()))
		endpoint.addCORS(e.CORS)
		endpoints.Content = append(endpoints.Content, endpoint.node())
	}
	tokens.add("endpoints", endpoints)
	m.add("form-tokens", tokens.node())
}

func (m *mapping) addQuota(q *settings.Quota) {
	if q == nil {
		return
	}
	quota := &mapping{}
	if q.NewKeysPerMinute > 0 {
		quota.add("new-keys-per-minute", number(q.NewKeysPerMinute))
	}
	if q.Records > 0 {
		quota.add("records", number(q.Records))
	}
	m.add("quota", quota.node())
}

// mapping is a YAML mapping in the making.
type mapping struct{ content []*yaml.Node }

func (m *mapping) add(key string, value *yaml.Node) *yaml.Node {
	m.content = append(m.content, scalar(key), value)
	return value
}

func (m *mapping) node() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Content: m.content} }

// scalar is a text; true and false of flags are booleans in the file.
func scalar(text string) *yaml.Node {
	tag := "!!str"
	if text == "true" || text == "false" {
		tag = "!!bool"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

func boolean(b bool) *yaml.Node { return scalar(strconv.FormatBool(b)) }

func number(n int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)}
}

func list(words []string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, word := range words {
		node.Content = append(node.Content, scalar(word))
	}
	return node
}
