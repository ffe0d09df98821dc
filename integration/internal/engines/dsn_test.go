package engines

import "testing"

func TestThrough(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ dsn, want string }{
		{"postgres://a:b@127.0.0.1:5432/test_1?sslmode=disable", "postgres://a:b@127.0.0.1:9/test_1?sslmode=disable"},
		{"root:b@tcp(127.0.0.1:3306)/test_1?parseTime=true", "root:b@tcp(127.0.0.1:9)/test_1?parseTime=true"},
		{"root@tcp(127.0.0.1:3306)/", "root@tcp(127.0.0.1:9)/"},
	} {
		if got := Through(test.dsn, "127.0.0.1:9"); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
