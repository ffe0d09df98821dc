package idgen

import "fmt"

// scan16 reads a column that holds an id of 16 bytes: its text, or the bytes
// themselves as binary(16) gives them.
func scan16[T ~[16]byte](id *T, src any, name string, parse func(string) (T, error)) error {
	var text string
	switch v := src.(type) {
	case string:
		text = v
	case []byte:
		if len(v) == 16 {
			*id = T(v)
			return nil
		}
		text = string(v)
	case [16]byte:
		*id = v
		return nil
	default:
		return unscannable(name, src)
	}
	parsed, err := parse(text)
	if err == nil {
		*id = parsed
	}
	return err
}

func unscannable(name string, src any) error {
	if src == nil {
		return fmt.Errorf("idgen: the column is NULL; scan it into sql.Null[idgen.%s]", name)
	}
	return fmt.Errorf("idgen: a column of type %T holds no %s", src, name)
}
