package storeurl

import "fmt"

// form is what holds for the addresses of one kind of server.
type form struct {
	kind     kind
	example  string // what follows SCHEME://
	port     string // by default
	known    []parameter
	database func(path string) (string, error)
	check    func(address) error // what contradicts itself
}

// formOf is the form that begins with a scheme.
func formOf(scheme string) (f form, ok bool) {
	switch scheme {
	case "postgres", "postgresql":
		return form{ofPostgres, "USER:PASSWORD@HOST/DATABASE", "5432", postgresParameters, databaseName, checkPostgres}, true
	case "mysql":
		return form{ofMySQL, "USER:PASSWORD@HOST/DATABASE", "3306", mysqlParameters, databaseName, checkMySQL}, true
	case redisPlain, redisTLS:
		return form{ofRedis, "USER:PASSWORD@HOST/0", "6379", redisParameters, databaseNumber, checkRedis}, true
	case redisSentinel:
		return form{ofRedis, "USER:PASSWORD@HOST,HOST,HOST/NAME", "26379", redisParameters, masterName, checkRedis}, true
	case redisCluster:
		return form{ofRedis, "USER:PASSWORD@HOST,HOST,HOST", "6379", redisParameters, noDatabase, checkRedis}, true
	}
	return f, false
}

// others are schemes that people try, and what to write.
var others = map[string]string{
	"mariadb":         "write mysql:// for MariaDB too",
	"valkey":          "write redis:// for Valkey too",
	"valkeys":         "write rediss:// for Valkey too",
	"rediss-cluster":  "write redis-cluster:// with the parameter tls=true",
	"rediss-sentinel": "write redis-sentinel:// with the parameter tls=true",
}

func (f *form) usage(scheme string) error { return fmt.Errorf("write %s://%s", scheme, f.example) }
