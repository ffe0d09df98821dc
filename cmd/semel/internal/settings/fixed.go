package settings

import "strconv"

// fixed are the settings that a running gateway keeps.
func (p *Proxy) fixed() []Setting {
	return []Setting{
		{Name: "listen", Value: p.Listen},
		{Name: "admin", Value: p.Admin},
		{Name: "store", Value: p.Store},
		{Name: "no-migrate", Value: strconv.FormatBool(p.NoMigrate)},
		{Name: "shutdown-timeout", Value: p.ShutdownTimeout.String()},
		{Name: "secret-file", Value: p.SecretFile},
		{Name: "store-key-text", Value: strconv.FormatBool(p.StoreKeyText)},
		{Name: "cache", Value: strconv.FormatInt(p.Cache, 10)},
		{Name: "tls-cert", Value: p.TLS.Cert},
		{Name: "tls-key", Value: p.TLS.Key},
		{Name: "tls-client-ca", Value: p.TLS.ClientCA},
		{Name: "log-format", Value: p.LogFormat},
	}
}

// RestartNeeded names the settings in which p differs from what runs, and which
// only a restart changes.
func (p *Proxy) RestartNeeded(running *Proxy) []string {
	var names []string
	now := running.fixed()
	for i, wanted := range p.fixed() {
		if wanted != now[i] {
			names = append(names, wanted.Name)
		}
	}
	return names
}

// KeepFixed takes over what only a restart changes.
func (p *Proxy) KeepFixed(running *Proxy) {
	p.Listen, p.Admin = running.Listen, running.Admin
	p.Store, p.NoMigrate = running.Store, running.NoMigrate
	p.ShutdownTimeout, p.SecretFile, p.StoreKeyText = running.ShutdownTimeout, running.SecretFile, running.StoreKeyText
	p.Cache = running.Cache
	p.TLS, p.LogFormat = running.TLS, running.LogFormat
}
