package semelhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

var errNoObject = errors.New("semelhttp: the key goes into a member of the body, and the body is no JSON object; send a JSON object")

// memberOf returns the string that an object has as the member name, or "" if it
// has no such member.
func memberOf(object []byte, name string) (string, error) {
	if !json.Valid(object) {
		return "", errNoObject
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return "", errNoObject
	}
	found := ""
	for dec.More() {
		member, err := dec.Token()
		if err != nil {
			return "", errNoObject
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return "", errNoObject
		}
		if member != name {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("semelhttp: the body has the member %q twice; send it once", name)
		}
		if json.Unmarshal(value, &found) != nil || found == "" {
			return "", fmt.Errorf("semelhttp: the member %q of the body is no key; make it a string that is not empty, or leave it out", name)
		}
	}
	return found, nil
}

// withMember puts a member in front of the others of an object, unless it is
// there. All other bytes stay as they are.
func withMember(object []byte, name, value string) ([]byte, error) {
	found, err := memberOf(object, name)
	if err != nil || found != "" {
		return object, err
	}
	member, err := json.Marshal(map[string]string{name: value})
	if err != nil {
		return nil, err
	}
	member = member[1 : len(member)-1]
	open := bytes.IndexByte(object, '{') + 1
	after := object[open:]
	if bytes.TrimLeft(after, " \t\r\n")[0] != '}' {
		member = append(member, ',')
	}
	return bytes.Join([][]byte{object[:open], member, after}, nil), nil
}
