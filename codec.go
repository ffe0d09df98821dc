package semel

import "encoding/json"

// Codec encodes results for the store. What Unmarshal makes of what Marshal wrote
// must equal the value: a zero, empty or nil value comes back as itself.
type Codec interface {
	Marshal(v any) ([]byte, error)
	Unmarshal(data []byte, v any) error
}

// JSON is the default codec, encoding/json. Unexported fields are not kept, and a
// result type with interface fields comes back as JSON knows it (numbers as
// float64): give results a type of exported fields with types of their own.
var JSON Codec = jsonCodec{}

type jsonCodec struct{}

func (jsonCodec) Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func (jsonCodec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }
