package canonjson

import (
	"errors"
	"fmt"
	"strings"
)

// Selection says which values of a text count. A nil *Selection selects all.
type Selection struct {
	include, ignore *node // nil: everything, nothing
}

// node is a place in a document on the way to some pointer's value.
type node struct {
	end      bool
	children map[string]*node
}

// NewSelection reads JSON pointers (RFC 6901). With include only the values there
// count, else all; what is at a pointer of ignore does not count in either case. A
// pointer that leads nowhere in a text selects nothing in it.
func NewSelection(include, ignore []string) (*Selection, error) {
	in, err := newTree(include)
	if err != nil {
		return nil, err
	}
	out, err := newTree(ignore)
	if err != nil {
		return nil, err
	}
	if out != nil && out.end {
		return nil, errors.New(`the pointer "" ignores the whole document; name the values to ignore, such as /timestamp`)
	}
	return &Selection{include: in, ignore: out}, nil
}

func newTree(pointers []string) (*node, error) {
	if len(pointers) == 0 {
		return nil, nil
	}
	root := new(node)
	for _, p := range pointers {
		names, err := ParsePointer(p)
		if err != nil {
			return nil, err
		}
		n := root
		for _, name := range names {
			n = n.grow(name)
		}
		n.end = true
	}
	return root, nil
}

func (n *node) grow(name string) *node {
	if n.children == nil {
		n.children = make(map[string]*node)
	}
	if n.children[name] == nil {
		n.children[name] = new(node)
	}
	return n.children[name]
}

// ParsePointer splits a JSON pointer into its decoded names.
func ParsePointer(p string) ([]string, error) {
	if p == "" {
		return nil, nil
	}
	if p[0] != '/' {
		return nil, fmt.Errorf("%q is no JSON pointer; it begins with /, such as /order/id", p)
	}
	names := strings.Split(p[1:], "/")
	for i, name := range names {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(name), "~") {
			return nil, fmt.Errorf("%q is no JSON pointer; write ~0 for ~ and ~1 for /", p)
		}
		names[i] = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	}
	return names, nil
}

// view is what a selection says about one place of a document.
type view struct {
	all     bool  // included whatever lies below
	include *node // on the way to something included; nil and !all: out
	ignore  *node // on the way to something ignored; nil: nothing below
	out     bool  // ignored
}

func (s *Selection) view() view {
	if s == nil {
		return view{all: true}
	}
	return view{all: s.include == nil || s.include.end, include: s.include, ignore: s.ignore}
}

func (v view) child(name string) view {
	next := view{all: v.all, out: v.out}
	if v.include != nil {
		next.include = v.include.children[name]
		next.all = v.all || next.include != nil && next.include.end
	}
	if v.ignore != nil {
		next.ignore = v.ignore.children[name]
		next.out = v.out || next.ignore != nil && next.ignore.end
	}
	return next
}

// everything means that no place below is different.
func (v view) everything() bool { return v.all && v.ignore == nil && !v.out }

// leaf reports whether a scalar here counts.
func (v view) leaf() bool { return v.all && !v.out }

// counts reports whether a container here counts.
func (v view) counts() bool { return (v.all || v.include != nil) && !v.out }
