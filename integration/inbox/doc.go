// Package inbox tests transactional mode on real databases: each rule runs on each
// engine and driver, by the names world/rule.
package inbox
