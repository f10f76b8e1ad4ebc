package binary

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"sync"
)

// longestScript is how much of a script is read, in bytes.
const longestScript = 1 << 16

// IsWrapper reports whether a program is a script for which added arguments are not harmless: it looks at the places of the
// arguments, or it can run the tool behind it on PATH several times, and a second run would be given the session that the
// first one has begun. The command of a package is the tool itself.
func (p Program) IsWrapper(name, path, skip string) bool {
	if !bytes.HasPrefix(readStart(p.Path, 2), []byte("#!")) || p.Version() != "" {
		return false
	}
	text := readStart(p.Path, longestScript)
	interpreter, _, _ := bytes.Cut(text, []byte("\n"))
	if !shells().Match(interpreter) {
		return starts().Match(text) && countsArguments(interpreter, text)
	}
	if passesArguments(text) && countsInShell(text) {
		return true
	}
	if _, err := Resolve(name, "", path, skip+","+p.ID); err != nil {
		return false
	}
	lines := passesOn().FindAll(text, -1)
	return lines == nil || slices.ContainsFunc(lines, func(line []byte) bool { return !becomesTool(line) })
}

// ReadsDescriptor reports whether a program is a script that reads a descriptor, given the number:
// <&3, read -u3, /dev/fd/3, os.read(3, ...).
func (p Program) ReadsDescriptor(number string) bool {
	text := readStart(p.Path, longestScript)
	reads := regexp.MustCompile(`(<&=?\s*|-u\s*|/fd/|\()` + number + `\b`)
	return bytes.HasPrefix(text, []byte("#!")) && p.Version() == "" && reads.Match(text)
}

// pattern returns a regular expression that is compiled when it is first used.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Shell scripts.
var (
	shells   = pattern(`\b(ba|da|k|z|a|mk|fi)?sh\b`)
	passesOn = pattern(`(?m)^[^#\n]*(\$[@*]|\[[@*]\]).*$`) // the arguments, or an array
	// separators stand between the commands of a line; builtins are commands that start no program.
	separators = pattern(`[\n;&|()]+|(^|\s)[{}](\s|$)|\b(then|do|else|if|while)\b`)
	passes     = pattern(`\$[@*]|\$\{[@*]|\[[@*]\]|\$argv|\bexec\s.*\$\{?[1-9]`)
	builtins   = pattern(`^\s*(for|set|echo|printf|local|declare|case|test|\[+|:|return|\w+\+?=)(\s|$|[("'$])`)

	becomes = pattern(`^(.*?)\bexec\s[^;|]*(\$[@*]|\[[@*]\])[^|]*(\|\|.*)?$`)

	// remarks are comments, and the programs of other languages that a script has in quotes.
	remarks = pattern(`(?m)^[ \t]*#.*$|[ \t]#[ \t].*$|\b(awk|gawk|sed|perl|jq)\b[^'\n|;]*'[^']*'`)
	// whole is another way to write all arguments.
	whole = pattern(`\$\{[1@]:?\+"\$@"\}|\$\{@(:?-|:1)\}`)
	// positions are the expressions that a script gets a certain argument or their number with: $1 and $#, a part of $@, an element of an array,
	// and the variable that a loop without work leaves at the last argument. BASH_SOURCE and its like are no arguments.
	positions = pattern(`(^|[^\\])\$([1-9#]|\{[1-9]|\{#[}@*]|\{!#|\{[@*][^}]|[@*]\[|\{?[a-z_]\w*\[-?[0-9]|\{[a-z_]\w*\[[@*]\]:|\{?BASH_ARG)` +
		`|\b(shift|getopts?)\b|\bcount \$argv` +
		`|\bfor\s+\w+(\s+in\s+"?\$@"?)?\s*(;|\n)\s*do\s+(:|true)\s*(;|\n)\s*done\b`)
	// A loop over the arguments that keeps one for later, or counts them, looks for their places.
	loops   = pattern(`(?s)\bfor\s+(\w+)(?:\s+in\s+"?\$[@*]"?)?\s*[;\n]\s*do\b.*?\bdone\b`)
	counter = pattern(`\+\+|\+=?\s*1\b`)
	found   = pattern(`=\S+\s*[;\n]\s*break\b`) // by its text, not its place
	// All arguments as one text are looked at from an end of it, unless a space or a * stands there.
	compared = pattern(`\bcase\s+"?\$\{?[*@]\}?"?\s+in\b|"?\$\{?[*@]\}?"?\s*(!=|==?)\s*("[^*]|'[^*]|[^*"'\s=])|"?\$\{?[*@]\}?"?\s*=~\s*\S*[\^$]`)
	anchored = pattern(`(\bin|;;|\n)\s*\(?["']?[^*"'\s;()][^\n;()]*\)`)
)

// countsInShell reports whether a shell script looks at the places of the arguments.
func countsInShell(text []byte) bool {
	text = whole().ReplaceAll(remarks().ReplaceAll(text, nil), []byte("$$@"))
	if positions().Match(text) {
		return true
	}
	for _, loop := range loops().FindAllSubmatch(text, -1) {
		kept := regexp.MustCompile(`[\s;]\w+="?\$\{?` + string(loop[1]) + `\}?"?(\s|;|$)`)
		if kept.Match(found().ReplaceAll(loop[0], nil)) || counter().Match(loop[0]) {
			return true
		}
	}
	for _, at := range compared().FindAllIndex(text, -1) {
		found := text[at[0]:at[1]]
		if !bytes.HasSuffix(found, []byte("in")) {
			return true
		}
		body, _, _ := bytes.Cut(text[at[0]:], []byte("esac"))
		if anchored().Match(body) {
			return true
		}
	}
	return false
}

// passesArguments reports whether a shell script starts another program with arguments of its own. A
// script that only reads them is the tool itself.
func passesArguments(text []byte) bool {
	commands := separators().Split(string(remarks().ReplaceAll(text, nil)), -1)
	return slices.ContainsFunc(commands, func(command string) bool {
		return passes().MatchString(command) && !builtins().MatchString(command)
	})
}

// becomesTool reports whether a script that reaches this line becomes the tool: an exec in a subshell
// or in a pipeline does not end the script.
func becomesTool(line []byte) bool {
	exec := becomes().FindSubmatch(line)
	return exec != nil && !passesOn().Match(exec[1]) && bytes.Count(exec[1], []byte("(")) <= bytes.Count(exec[1], []byte(")"))
}

// starts matches the functions that start a program in scripts of other languages.
var starts = pattern(`\b(exec\w*|spawn\w*|posix_spawn\w*|system|popen|subprocess|child_process|fork)\b`)

// Scripts in other languages. The arguments begin at argv[1], with node at argv[2].
var (
	languages = []struct{ interpreter, places func() *regexp.Regexp }{
		{pattern(`\b(node|nodejs|bun|deno|tsx|ts-node)\b`), pattern(`\bargv\s*(\[\s*([2-9]|[1-9]\d)\s*\]|\.(at|length|shift|pop|splice|indexOf|findIndex|entries)\b|\.slice\(\s*(-|[13-9]|2\s*,))` +
			`|\]\s*=\s*process\.argv`)},
		{pattern(`\bperl\b`), pattern(`\$ARGV\[|\$#ARGV|\bscalar\W*@ARGV|\bshift\b|\bpop\b|\bGetopt\b`)},
		{pattern(`\bruby\b`), pattern(`\bARGV(\[|\.(first|last|shift|pop|length|size|count|at|fetch|slice|drop|take)\b)`)},
		{pattern(``), pattern(`\bargv\s*\[\s*(-\d|[2-9]|1\s*(\]|:\s*[^\]\s]))|\blen\(\s*(sys\.)?argv|\bargv\.pop\(|\bgetopt\b|\bmatch\s+(sys\.)?argv` +
			`|\benumerate\(\s*(sys\.)?argv|\bargv\.index\(|\*\w+\s*=\s*(sys\.)?argv`)},
	}
	// copied are variables that hold all arguments.
	copied = pattern(`\b(\w+)\s*=\s*(?:list\()?(?:sys\.argv\[1:\]|(?:process\.)?argv\.slice\(2\)|ARGV\b|@ARGV\b)`)
)

// counting are methods of a list that use the places or the number of its elements.
const counting = `shift|pop|at|first|last|length|size|count|index|indexOf|findIndex|slice|splice|take|drop|fetch|entries|each_with_index`

// countsArguments reports whether a script looks at the places of the arguments.
func countsArguments(interpreter, text []byte) bool {
	for _, l := range languages {
		if !l.interpreter().Match(interpreter) {
			continue
		}
		if l.places().Match(text) {
			return true
		}
		break
	}
	for _, all := range copied().FindAllSubmatch(text, -1) {
		name := string(all[1])
		if regexp.MustCompile(`(^|[^\w.])` + name + `(\[|\.(` + counting + `)\b)|\b(len|enumerate|scalar|shift|pop)\b[\s(]*@?` + name + `\b|[\]*]\s*=\s*` + name + `\b`).Match(text) {
			return true
		}
	}
	return false
}

// readStart returns the first bytes of a file, as far as they can be read.
func readStart(path string, most int64) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, most))
	return text
}
