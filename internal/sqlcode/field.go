package sqlcode

import "reflect"

// field is a field of the struct that an error is or points to; invalid if there is
// none, or none that can be reached.
func field(err error, name string) reflect.Value {
	v := reflect.ValueOf(err)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	at, ok := v.Type().FieldByName(name)
	if !ok {
		return reflect.Value{}
	}
	f, nilWithin := v.FieldByIndexErr(at.Index)
	if nilWithin != nil {
		return reflect.Value{}
	}
	return f
}
