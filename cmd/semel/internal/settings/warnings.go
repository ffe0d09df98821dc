package settings

import (
	"net/url"
	"slices"
	"strings"
)

// Warnings are sentences that an operator should read at start.
func (p *Proxy) Warnings() []string {
	list := p.Principal.Warnings()
	for _, route := range p.Routes {
		list = append(list, route.Principal.Warnings()...)
		switch {
		case !route.Enabled:
			list = append(list, "the route "+route.String()+" is not guarded: it is switched off in the file")
		case route.Observe:
			list = append(list, "the route "+route.String()+" is only observed: duplicates run again")
		}
	}
	list = append(list, p.tokenWarnings()...)
	slices.Sort(list)
	return slices.Compact(list)
}

// Warnings are what an operator should know of the principal.
func (p Principal) Warnings() []string {
	switch {
	case p.Kind == PrincipalHeader && p.Name == "Authorization":
		return []string{"the scope is the Authorization header as sent: right for static API keys; a refreshed bearer token is a new scope, so a retry that crosses a refresh runs again"}
	case p.Kind == PrincipalHeader:
		return []string{"the scope is the header " + p.Name + ": only a proxy in front that sets it, and removes what clients send, makes it trustworthy"}
	case p.Kind == PrincipalCookie:
		return []string{"the scope is the cookie " + p.Name + " as sent: a new session is a new scope, so a retry that crosses a login runs again"}
	case p.Kind == PrincipalGlobal:
		return []string{"all callers share one scope: right for one trusted caller only, since whoever sends a key gets the answer recorded for it"}
	}
	return nil
}

func (p *Proxy) tokenWarnings() []string {
	if !p.uses(PrincipalJWT) {
		return nil
	}
	var list []string
	if p.JWT.Issuer == "" {
		list = append(list, "tokens of every issuer count whose keys are in the key set; --jwt-issuer names one")
	}
	if len(p.JWT.Audience) == 0 {
		list = append(list, "tokens that were made for other services count too; --jwt-audience names this one")
	}
	if u, err := url.Parse(p.JWT.Keys); err == nil && u.Scheme == "http" && !isHere(u.Hostname()) {
		list = append(list, "the key set comes over plain http: who can change it on its way can make tokens; use https")
	}
	return list
}

// String is the route's methods and path.
func (t Route) String() string { return strings.Join(t.Methods, ",") + " " + t.Path }
