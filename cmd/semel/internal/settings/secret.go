package settings

import (
	"bytes"
	"fmt"
	"os"
)

const minSecret = 16

// ReadSecret returns the bytes of a secret file without surrounding white space, or nil
// where no file is named.
func ReadSecret(file string) ([]byte, error) {
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
