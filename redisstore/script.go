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

func loadScripts() (s scripts, err error) {
	load := func(name string, writes bool) script {
		head, headErr := fs.ReadFile(sources, "scripts/head.lua")
		body, bodyErr := fs.ReadFile(sources, "scripts/"+name+".lua")
		err = errors.Join(err, headErr, bodyErr)
		text := string(head) + string(body)
		sum := sha1.Sum([]byte(text))
		return script{text: text, sha: hex.EncodeToString(sum[:]), writes: writes}
	}
	s = scripts{
		claim: load("claim", true), own: load("own", true), finish: load("finish", true), resolve: load("resolve", true),
		await: load("await", false), read: load("read", false), list: load("list", false),
	}
	probe, probeErr := fs.ReadFile(sources, "scripts/probe.lua")
	s.probe.text = string(probe)
	err = errors.Join(err, probeErr)
	return s, err
}
