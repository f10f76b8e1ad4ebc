# The commands of a day's work, for https://just.systems. docs/internals/testing.md has the others.

# list these
default:
    @just --list

# units, recordings and scenarios with a fake claude
test:
    go test ./...

# the packages that decide, in seconds
quick:
    go test ./rewrite/... ./ledger ./config ./docs

# all that a change must pass
ci:
    .ci/run

# write the generated files anew
update:
    go test ./rewrite/prompt -run TestWordsBegin -update
    go test ./rewrite/tool -run TestListsOfTools -update
    go test ./config ./internal/ctl ./cmd/shim -update

# one real tool, with and without the shim, and its jobs
tool NAME:
    go run ./test/conformance -tool {{NAME}} -sample
    REPRISE_E2E=sample go test -timeout 40m -run '(?i){{NAME}}' ./test/jobs

# small mistakes in a package that its tests do not notice
mutants PACKAGE:
    go run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 unleash --invert-logical --invert-loopctrl --timeout-coefficient 100 ./{{PACKAGE}}

# look for an input that breaks the readers of prompts and streams
fuzz NAME time='60s':
    go test "$(dirname "$(grep -rl --include='*_test.go' 'func {{NAME}}(' .)")" -run '^$' -fuzz '^{{NAME}}$' -fuzztime {{time}}
