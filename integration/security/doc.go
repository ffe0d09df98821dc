// Package security meets the threats of docs/security.md with the real gateway:
// hostile bytes on raw sockets, bombs, floods, and a search of all output for what
// must stay private. Threats that one package meets alone are tested there; the
// table names each test, and a test here checks the table.
package security
