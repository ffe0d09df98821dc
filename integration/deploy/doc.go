// Package deploy holds the tests of the files in the repository's folder deploy:
// the image, the unit, the manifest and the alerts must agree with the binary that
// they are for, built as `make build` does.
package deploy
