package engines

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// account is who the servers run as. PostgreSQL and PgBouncer refuse to run as root.
type account struct {
	name     string
	uid, gid uint32
	other    bool // than who we are
}

// unprivileged is ourselves, or in root's place an account that every system has.
func unprivileged() (account, error) {
	u, err := user.Current()
	root := os.Getuid() == 0
	if root {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return account{}, fmt.Errorf("no account to run servers as: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("account %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("account %s: %w", u.Username, err)
	}
	return account{name: u.Username, uid: uint32(uid), gid: uint32(gid), other: root}, nil
}

// own gives a folder and what is in it to the account.
func (a account) own(dir string) error {
	if !a.other {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(a.uid), int(a.gid))
	})
}
