package binary

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// longestScript is how much of a script is read, in bytes.
const longestScript = 1 << 16

// IsWrapper reports whether a program is a script for which added arguments are not harmless: it
// looks at the places of the arguments, or it can run the tool behind it on PATH several times, and
// a second run would be given the session that the first one has begun. The command of a package is
// the tool itself.
func (p Program) IsWrapper(name, path, skip string) bool {
	if !bytes.HasPrefix(readStart(p.Path, 2), []byte("#!")) || p.Version() != "" {
		return false
	}
	text := readStart(p.Path, longestScript)
	if p.looksAtPlaces(nil, text, 2) {
		return true
	}
	interpreter, _, _ := bytes.Cut(text, []byte("\n"))
	if !shells().Match(interpreter) {
		return false
	}
	if _, err := Resolve(name, "", path, skip+","+p.ID); err != nil {
		return repeats(text)
	}
	lines := passesOn().FindAll(text, -1)
	return lines == nil || slices.ContainsFunc(lines, func(line []byte) bool {
		return !becomesTool(line)
	})
}

// looksAtPlaces reports whether a script looks at the places of the arguments, itself or in files
// that it sources or hands the arguments on to, so many levels deep. command starts it if it names
// no interpreter.
func (p Program) looksAtPlaces(command, text []byte, levels int) bool {
	if bytes.HasPrefix(text, []byte("#!")) {
		command, _, _ = bytes.Cut(text, []byte("\n"))
	}
	at := slices.IndexFunc(languages, func(l language) bool {
		return l.interpreter().Match(command)
	})
	switch {
	case bytes.HasPrefix(command, []byte("#!")) && shells().Match(command):
	case at >= 0:
		return startsOthers(text) && languages[at].countsArguments(text)
	case bytes.HasPrefix(command, []byte("#!")):
		return true
	}
	words := home().ReplaceAll(remarks().ReplaceAll(text, nil), []byte("~"))
	words = quotes().ReplaceAll(computed().ReplaceAll(words, []byte("§")), nil)
	for _, word := range sourced().FindAllSubmatch(words, -1) {
		_, more := p.beside(string(word[1]))
		text = slices.Concat(text, []byte("\n"), more)
	}
	if passesArguments(text) && countsInShell(text) {
		return true
	}
	if levels == 0 {
		return false
	}
	return slices.ContainsFunc(second().FindAllSubmatch(words, -1), func(word [][]byte) bool {
		next, text := p.beside(string(word[2]))
		return text != nil && next.Version() == "" && next.looksAtPlaces(word[1], text, levels-1)
	})
}

// beside returns a script that another one names by its path. A § in it is a text that is not
// known: as a rule the directory of the other one. A program that is no script, or is too long for
// a wrapper, has no text.
func (p Program) beside(path string) (Program, []byte) {
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(os.Getenv("HOME"), below)
	}
	for _, of := range []string{p.Path, p.Real} {
		found := strings.TrimPrefix(path, "§")
		if !filepath.IsAbs(path) {
			found = filepath.Join(filepath.Dir(of), found)
		}
		text := readStart(found, longestScript)
		next, err := newProgram(found, "")
		if err == nil && len(text) < longestScript && !bytes.Contains(text, []byte{0}) {
			return next, text
		}
	}
	return Program{}, nil
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
	passes     = pattern(`\$[@*]|\$\{[@*]|\[[@*]\]|\$argv|\bexec\s.*\$`)
	builtins   = pattern(`^\s*(for|set|echo|printf|local|declare|case|test|\[+|:|return|\w+\+?=)(\s|$|[("'$])`)

	again   = pattern(`(?s)\b(?:until|while|for)\b.*?\bdone\b`)
	becomes = pattern(`^(.*?)\bexec\s[^;|]*(\$[@*]|\[[@*]\])[^|]*(\|\|.*)?$`)

	// remarks are comments, and the programs of other languages that a script has in quotes.
	remarks = pattern(`(?m)^[ \t]*#.*$|[ \t]#[ \t].*$|\b(awk|gawk|sed|perl|jq)\b[^'\n|;]*'[^']*'`)
	// computed are texts that a script computes, or takes from a variable.
	computed = pattern("\\$\\((?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\)|`[^`\n]*`|\\$\\{\\w+(\\[0\\])?(%/\\*)?\\}|\\$[a-z_A-Z]\\w*")
	home     = pattern(`\$HOME\b|\$\{HOME\}`)
	quotes   = pattern(`["']`)
	// sourced are files that a script reads as a part of itself; second are scripts that it hands
	// the arguments on to, with the words before.
	sourced = pattern(`(?m)(?:^|[;&|]|\b(?:if|then|do|else)\s)\s*(?:\.|source)\s+([^\s;&|]+)`)
	second  = pattern(`(?m)(?:^|[;&|])([^\n;&|]*?)([^\s;&|]*/[^\s;&|]+)(?:\s+-\S+)*\s+\$(?:[@*]|\{[@*]\}|\{\w+\[[@*]\]\}|\{1\+\$@\})`)
	// whole is another way to write all arguments.
	whole = pattern(`\$\{[1@]:?\+"\$@"\}|\$\{@(:?-|:1)\}|\$\{\(j[^)\n]*\)[@*]\}`)
	// positions are the expressions that a script gets a certain argument or their number with: $1
	// and $#, a part of $@, an element of an array, and the variable that a loop without work
	// leaves at the last argument. BASH_SOURCE and its like are no arguments.
	positions = pattern(`/cmdline\b|\bstring\s+(split|sub|replace|match\s+-\w*r)\b[^\n;]*\$argv|\beval\s[^\n]*\\\$[1-9#{]|(^|[^\\])\$([1-9#]|\{[1-9]|\{#[}@*]|\{!#|\{[@*][^}]|[@*]\[|\{?[a-z_]\w*\[-?[0-9]|\{[a-z_]\w*\[[@*]\]:|\{?BASH_ARG)` +
		`|\b(shift|getopts?|zparseopts|argparse|ARGC)\b|\bcount \$argv|\bcontains\s+(-i|--index)\b|(^|[^.\w])argv\[|\bunset\s[^\n;]*\w\[` +
		`|\b(match|test|\[)\s[^\n;]*"\$argv"|\bfor\s+\w+\s+in\s+\$argv\b(?s:.*)\bset\s+(-\w+\s+)*\w+\s+\$\w+\s*(;|\n)` +
		`|\bfor\s+\w+(\s+in\s+"?\$@"?)?\s*(;|\n)\s*do\s+(:|true)\s*(;|\n)\s*done\b`)
	// copies are variables that a script gives all arguments.
	copies = pattern(`(?m)(?:^|[\s;])(\w+)=\(?\s*"?\$(?:[@*]|\{[@*]\}|argv\b)"?\s*\)?\s*(?:[;&|]|$)|\bset\s+(?:-\w+\s+)*(\w+)\s+\$argv\s*(?:;|$)` +
		`|\bprintf\s+-v\s+(\w+)\s[^\n;|&]*\$[@*]`)
	// printed are arguments that another command reads as text, or that a program within the script
	// has.
	printed = pattern(`\b(?:echo|printf|print)\b[^\n;|&]*\$(?:[@*]|argv)[^\n;|&)]*\|\s*(\w+)|(?:\b(?:if|while|until|then|do|else)\s+)?\b(\w+)[^\n;|&]*<<<\s*"?\$(?:[@*]|argv)` +
		`|<\(\s*(?:echo|printf|print)\b[^\n)]*\$([@*])|\b(?:python[\d.]*|node|bun|perl|ruby|php)\s+(?:-\w+\s+)*(?:-\w*[cer]\s*(?:'[^']*(?:argv|ARGV|shift)[^']*'|"[^"]*(?:argv|ARGV|shift)[^"]*")|-)\s+(?:--\s+)?"?\$[@*]` +
		`|\b\w*awk\s[^\n']*'[^']*ARG[VC][^']*'|\bexpr\s[^\n;|]*\$[@*]|<<-?\s*\w+[^\n]*\n\s*\$[@*]`)
	// A loop over the arguments that keeps one for later, or counts them, looks for their places.
	loops   = pattern(`(?s)\bfor\s+(\w+)(?:\s+in\s+"?\$[@*]"?)?\s*[;\n]\s*do\b.*?\bdone\b`)
	set     = pattern(`(?:^|[\s;&(])(\w+)=`)
	counter = pattern(`\+\+|\+=?\s*1\b`)
	// readsAnywhere are commands that look for a text anywhere, or keep it.
	readsAnywhere = pattern(`^([ef]?grep|rg|tee|logger|cat)$`)
	found         = pattern(`=\S+\s*[;\n]\s*break\b`) // by the text, not the place
	// All arguments as one text are looked at from an end of it, unless a space or a * stands
	// there.
	compared = pattern(`\bcase\s+"?\$\{?[*@]\}?"?\s+in\b|"?\$\{?[*@]\}?"?\s*(!=|==?)\s*("[^*]|'[^*]|[^*"'\s=])|"?\$\{?[*@]\}?"?\s*=~\s*\S*[\^$]`)
	anchored = pattern(`(\bin|;;|\n)\s*\(?["']?[^*"'\s;()][^\n;()]*\)`)
)

// countsInShell reports whether a shell script looks at the places of the arguments.
func countsInShell(text []byte) bool {
	text = whole().ReplaceAll(text, []byte("$$@"))
	for _, name := range copies().FindAllSubmatch(text, -1) {
		name := string(slices.Concat(name[1:]...))
		text = regexp.MustCompile(`\$\{`+name+`\[[@*]\]\}|\$`+name+`\b`).ReplaceAll(text,
			[]byte("$$*"))
		text = regexp.MustCompile(`\$\{([#!]?)`+name+`\b`).ReplaceAll(text, []byte("$${${1}*"))
	}
	for _, reader := range printed().FindAllSubmatch(text, -1) {
		if !readsAnywhere().Match(slices.Concat(reader[1:]...)) {
			return true
		}
	}
	text = remarks().ReplaceAll(text, nil)
	if positions().Match(text) {
		return true
	}
	for _, loop := range loops().FindAllSubmatch(text, -1) {
		kept := regexp.MustCompile(`[\s;]\w+="?\$\{?` + string(loop[1]) + `\}?"?(\s|;|$)`)
		if kept.Match(found().ReplaceAll(loop[0], nil)) || counter().Match(loop[0]) {
			return true
		}
		for _, name := range set().FindAllSubmatch(loop[0], -1) { // and read for the next argument
			if regexp.MustCompile(`\$\{?` + string(name[1]) + `\b`).Match(loop[0]) {
				return true
			}
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

// passesArguments reports whether a shell script starts another program with arguments of its own.
// A script that only reads them is the tool itself.
func passesArguments(text []byte) bool { return len(passing(text)) > 0 }

// passing returns the commands of a shell script that start another program with arguments of its
// own.
func passing(text []byte) []string {
	commands := separators().Split(string(remarks().ReplaceAll(text, nil)), -1)
	return slices.DeleteFunc(commands, func(command string) bool {
		return !passes().MatchString(command) || builtins().MatchString(command)
	})
}

// repeats reports whether a shell script hands all its arguments on several times, and does not end
// with that.
func repeats(text []byte) bool {
	runs := 0
	for _, command := range passing(text) {
		if passesOn().MatchString(command) && !strings.Contains(command, "exec ") {
			runs++
		}
	}
	return runs > 1 || runs == 1 && slices.ContainsFunc(again().FindAll(text, -1), passesArguments)
}

// becomesTool reports whether a script that reaches this line becomes the tool: an exec in a
// subshell or in a pipeline does not end the script.
func becomesTool(line []byte) bool {
	exec := becomes().FindSubmatch(line)
	return exec != nil && !passesOn().Match(exec[1]) &&
		bytes.Count(exec[1], []byte("(")) <= bytes.Count(exec[1], []byte(")"))
}

var (
	// starts are the functions that start a program in scripts of other languages, and the modules
	// that have them.
	starts = pattern(`\b(?:exec\w*|spawn\w*|posix_spawn\w*|system|popen|subprocess|child_process|` +
		`fork)\b`)
	// constant is a call of one of them that has only texts and variables of the environment;
	// imports give the functions no other names.
	constant = pattern(`\b(?:subprocess\.\w+|os\.(?:system|popen)|(?:exec|spawn)\w*|system)\(` +
		`(?:'[^'\\\n{}]*'|"[^"\\\n{}]*"|\b(?:os\.(?:environ\.get|getenv)\(|[\w.]+\[)` +
		`['"][A-Z_]+['"](?:,\s*(?:''|""))?[\])]|\bprocess\.env\.\w+|\bsubprocess\.[A-Z]+\b` +
		`|\b(?:True|False|None|true|false|null|\w+=|\w+:|\d+)|[\s,\[\]{}])+\)`)
	texts   = pattern(`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"`)
	imports = pattern(`\bimport\s+(?:\w+,\s*)*subprocess(?:,\s*\w+)*\s*(?:[;\n]|$)` +
		`|\{[\w,\s]*\}\s*(?:=\s*require\(|from\s*)['"](?:node:)?child_process['"]`)
)

// startsOthers reports whether a script in another language can start a program with its own
// arguments. A script that starts others only with constants is the tool itself.
func startsOthers(text []byte) bool {
	text = constant().ReplaceAll(imports().ReplaceAll(text, nil), nil)
	return starts().Match(texts().ReplaceAll(text, nil))
}

// A language of scripts other than a shell's: the interpreters, and the expressions for the
// program's own name among the arguments and for all arguments.
type language struct{ interpreter, program, all func() *regexp.Regexp }

// Scripts in other languages. Few uses of the arguments are harmless; any other use counts as a
// look at their places, and so does each script in a language that is not here.
var (
	languages = []language{
		{pattern(`\b(python[\d.]*|pypy[\d.]*|uv)\b`), pattern(`\bargv\[0\]`),
			pattern(`\b(?:sys\.)?argv\b(?:\[1:\])?`)},
		{pattern(`\b(node|nodejs|bun|deno|tsx|ts-node)\b`), pattern(`\bargv\[[01]\]`),
			pattern(`\b(?:(?:process|Bun)\.)?argv\b(?:\.slice\(2\))?|\bDeno\.args\b`)},
		{pattern(`\bperl\b`), nil, pattern(`@ARGV\b|@_\b`)},
		{pattern(`\bruby\b`), nil, pattern(`\bARGV\b|\$\*`)},
	}
	// copied are variables that hold § (all arguments).
	copied = pattern(`(?:^|\n|;|\b(?:my|const|let|var)\s)\s*[@$]?(\w+)\s*=\s*(?:list\(§\)|\[(?:\*|\.\.\.)§\]|§(?:\.(?:dup|copy\(\)|filter\(\w+ => [^(),]*\)))?)\s*(?:;|\n)`)
	// each are loops over the arguments, with the variable.
	each = pattern(`\bfor(?:each)?\s*\(?\s*(?:my|const|let|var)?\s*\$?(\w+)\s*(?:in|of)?\s*\(?§\)?|§\.(?:some|any\?|filter|each|forEach)\s*[({]\s*[|(]?(\w+)[|)]?\s*(?:=>)?`)
	// harmless are uses that do not turn on places: the arguments are handed on, written to a log,
	// or searched for an option.
	harmless = pattern(`\b(?:not\s+)?in\s+§|§\.(?:includes|include\?)\(|\bgrep\s*\{\s*\$_ (?:eq|=~) [^}]*\}\s*§` +
		`|(?:\+=?|\*|\.\.\.)\s*§|§\s*=\s*§\s*\+|§\s*\+=?\s*[\[(]|§\.(?:append|extend|push|concat)\(` +
		`|\b(?:exec\w*|spawn\w*|posix_spawn\w*|call|check_call|check_output|Popen|subprocess\.run|system)\b[^;\n]*?§\s*[,);\n]` +
		`|\b(?:print\w*|log\w*|write\w*|appendFileSync|puts|info|debug)\b[^;\n§]*§(?:\.join\([^)]*\)|\\n")?\s*[,);]`)
	left = pattern(`§|/cmdline\b|\b(?:argv|ARGV)\b|\$_\[`)
	// parsers of options do not know an option that is added; nor does a Perl script that takes
	// arguments off one by one, or counts them.
	parsers = pattern(`(?m)^.*\b(?:import|from|require|use)\b.*\b(?:argparse|optparse|getopt|Getopt|click|typer|docopt|fire|slop|thor|optimist|parseArgs|` +
		`minimist|yargs|commander|meow|cac|mri)\b|(?:^|[=({;])\s*(?:shift|pop)\b\s*(?:@|;|\)|\|\|)|\b(?:scalar|splice)\b\W*@`)
)

// countsArguments reports whether a script looks at the places of the arguments.
func (l language) countsArguments(text []byte) bool {
	if parsers().Match(text) {
		return true
	}
	if l.program != nil {
		text = l.program().ReplaceAll(text, nil)
	}
	text = l.all().ReplaceAll(text, []byte("§"))
	names := copied().FindAllSubmatch(text, -1)
	text = copied().ReplaceAll(text, nil)
	for _, name := range names {
		text = regexp.MustCompile(`[@$]?\b`+string(name[1])+`\b`).ReplaceAll(text, []byte("§"))
	}
	for _, loop := range each().FindAllSubmatch(text, -1) {
		name := string(slices.Concat(loop[1:]...))
		rest := bytes.ReplaceAll(text, loop[0], nil)
		compared := regexp.MustCompile(`\$?\b` + name +
			`\s*(?:===?|!==?|eq\b|ne\b|=~|in\b|\.(?:startswith|startsWith|start_with\?))`)
		if !regexp.MustCompile(`\b`+name+`\b`).Match(compared.ReplaceAll(rest, nil)) &&
			!counter().Match(rest) {
			text = rest
		}
	}
	return left().Match(harmless().ReplaceAll(text, nil))
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
