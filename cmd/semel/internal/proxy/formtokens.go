package proxy

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/semel-go/semel/cmd/semel/internal/settings"
	"github.com/semel-go/semel/onetime"
	"github.com/semel-go/semel/semelhttp"
)

// readFormTokens makes the forms of each purpose, with the secrets as the files have
// them now.
func (g *Gateway) readFormTokens() error {
	tokens := g.cfg.FormTokens
	if tokens == nil {
		return nil
	}
	secrets, err := g.tokenSecrets(tokens)
	if err != nil {
		return fmt.Errorf("%s: form-tokens.secrets: %w", tokens.Place(), err)
	}
	g.forms = map[string]*semelhttp.Forms{}
	for _, e := range tokens.Endpoints {
		issuer, err := onetime.NewIssuer(secrets, &onetime.IssuerOptions{Lifetime: e.Lifetime})
		if err != nil {
			return fmt.Errorf("%s: form-tokens.secrets: %w", tokens.Place(), err)
		}
		g.forms[e.Purpose], err = semelhttp.NewForms(issuer, g.principalOf(e.Principal), &semelhttp.FormsOptions{Header: tokens.Header, Field: tokens.Field})
		if err != nil {
			return fmt.Errorf("%s: form-tokens: %w", tokens.Place(), err)
		}
	}
	return nil
}

// tokenSecrets are the contents of the files without surrounding white space.
func (g *Gateway) tokenSecrets(tokens *settings.FormTokens) ([][]byte, error) {
	const least = 32
	var secrets [][]byte
	for _, file := range tokens.Secrets {
		text, err := g.deps.ReadFile(file)
		if err != nil {
			return nil, err
		}
		secret := bytes.TrimSpace(text)
		if len(secret) < least {
			return nil, fmt.Errorf("%s holds %d bytes, at least %d are needed; make one with: openssl rand -hex 32", file, len(secret), least)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// addTokenEndpoints adds the paths where forms get their tokens.
func (g *Gateway) addTokenEndpoints(table *routes) error {
	if g.cfg.FormTokens == nil {
		return nil
	}
	for _, e := range g.cfg.FormTokens.Endpoints {
		handler, err := g.tokenEndpoint(e)
		if err == nil {
			err = table.add(e.Path, handler)
		}
		if err != nil {
			return fmt.Errorf("%s: the endpoint %s: %w", e.Place(), e.Path, err)
		}
	}
	return nil
}

func (g *Gateway) tokenEndpoint(e settings.TokenEndpoint) (http.Handler, error) {
	handler, err := g.forms[e.Purpose].Endpoint(e.Purpose)
	if err != nil || e.CORS == nil {
		return handler, err
	}
	return withCORS(e.CORS, nil, handler)
}
