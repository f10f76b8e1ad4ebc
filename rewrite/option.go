package rewrite

// Arity is how many arguments an option takes.
type Arity int

// The arities of all the tools' option parsers.
const (
	NoValue       Arity = iota
	OneValue            // takes any next argument
	OptionalValue       // takes the next argument unless it starts with a dash
	ManyValues          // takes the next argument, and those after it that do not start with a dash
)

// An Option is one option of a tool, under all the names.
type Option struct {
	Names []string // with their dashes; the first names the setting
	Arity Arity
	Kind  OptionKind
}

// OptionKind is the meaning of an option for a resume. Package grammar has the kinds.
type OptionKind int

// A Span is a run of arguments; it is empty if N is 0.
type Span = struct{ At, N int }
