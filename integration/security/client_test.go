package security

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// client keeps no connection and unpacks nothing.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}

// post sends a keyed request with further header lines.
func post(t *testing.T, url, tenant, key string, body []byte, lines ...string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Tenant": {tenant}, "Idempotency-Key": {key}}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return 0, ""
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Errorf("%s: %v", key, err)
	}
	return res.StatusCode, string(data)
}
