// Command conformance runs the suite.
package main

import "reprise/test/conformance/suite"

func main() { suite.Main() }
