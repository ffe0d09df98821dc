package proxy

import (
	"bytes"
	"fmt"
	"os"
)

const minSecret = 16

// readSecret returns the bytes of file without surrounding white space, or nil
// where no file is named.
func readSecret(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	secret, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--secret-file: %w", err)
	}
	secret = bytes.TrimSpace(secret)
	if len(secret) < minSecret {
		return nil, fmt.Errorf("--secret-file: %s holds %d bytes, at least %d are needed; make one with: openssl rand -hex 32", file, len(secret), minSecret)
	}
	return secret, nil
}
