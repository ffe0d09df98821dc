package redisstore

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
)

// sources are the scripts, in Lua. docs/stores-protocol.md explains them.
//
//go:embed scripts/*.lua
var sources embed.FS

// script is one method as a script on one record.
type script struct {
	text   string
	sha    string
	writes bool
}

// scripts are all of them.
type scripts struct {
	claim, own, finish, resolve, await script
	read, list, probe                  script
}

// loadScripts puts the scripts together: the head that all have, the method, and for
// those that change the record what writes it.
func loadScripts() (s scripts, err error) {
	source := func(name string) string {
		text, readErr := fs.ReadFile(sources, "scripts/"+name+".lua")
		err = errors.Join(err, readErr)
		return string(text)
	}
	head, put := source("head"), source("put")
	made := func(text string, writes bool) script {
		sum := sha1.Sum([]byte(text))
		return script{text: text, sha: hex.EncodeToString(sum[:]), writes: writes}
	}
	changes := func(name string) script { return made(head+source(name)+put, true) }
	looks := func(name string) script { return made(head+source(name), false) }
	return scripts{
		claim: changes("claim"), own: changes("own"), finish: changes("finish"), resolve: changes("resolve"),
		await: looks("await"), read: looks("read"), list: looks("list"), probe: made(source("probe"), false),
	}, err
}
