package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// A mutant is one mistake.
type mutant struct {
	number int
	file   string // relative to the root
	line   int
	what   string
}

func (m *mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.file, m.line, m.what) }

// An editor puts switches around what mutants change in one file.
type editor struct {
	path    string
	source  string
	fset    *token.FileSet
	info    *types.Info
	pkg     *types.Package
	imports map[string]bool
	mutants *[]*mutant
	before  map[int]string  // what is put at an offset, in front of what begins there
	behind  map[int]string  // and behind what ends there
	results []*ast.FuncType // of the enclosing functions
	failing ast.Stmt        // the final statement of a failed call
}

// text returns the source of a node.
func (e *editor) text(n ast.Node) string { return e.source[e.offset(n.Pos()):e.offset(n.End())] }

func (e *editor) offset(p token.Pos) int { return e.fset.Position(p).Offset }

// add adds a mutant and returns its number.
func (e *editor) add(n ast.Node, format string, args ...any) int {
	m := &mutant{len(*e.mutants) + 1, e.path, e.fset.Position(n.Pos()).Line, strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")}
	*e.mutants = append(*e.mutants, m)
	return m.number
}

// wrap puts text before and after a node. Of two nodes at one place the outer one comes first.
func (e *editor) wrap(n ast.Node, before, behind string) {
	from, to := e.offset(n.Pos()), e.offset(n.End())
	e.before[from] += before
	e.behind[to] = behind + e.behind[to]
}

// replace adds a mutant that puts another expression of a type in the place of one.
func (e *editor) replace(x ast.Expr, name, other, format string, args ...any) {
	e.wrap(x, fmt.Sprintf("mutant(%d, func() %s { return %[2]s(%s) }, func() %[2]s { return %[2]s(", e.add(x, format, args...), name, other), ") })")
}

// apply returns the source with all changes.
func (e *editor) apply() string {
	var text strings.Builder
	for at := range len(e.source) {
		text.WriteString(e.behind[at] + e.before[at] + e.source[at:at+1])
	}
	return text.String() + e.behind[len(e.source)]
}

func (e *editor) file(f *ast.File) string {
	e.imports, e.before, e.behind = map[string]bool{}, map[int]string{}, map[int]string{}
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		e.imports[path] = true
	}
	for _, d := range f.Decls {
		e.walk(d)
	}
	return e.apply()
}

// walk visits a node and its children.
func (e *editor) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.FuncDecl:
			if n.Body != nil {
				e.function(n.Type, n.Body)
			}
			return false
		case *ast.FuncLit:
			e.function(n.Type, n.Body)
			return false
		case *ast.ArrayType, *ast.Field:
			return false // constants
		case *ast.KeyValueExpr:
			if _, ok := n.Key.(*ast.BasicLit); ok {
				e.walk(n.Value)
				return false
			}
		case *ast.ReturnStmt:
			return n != e.failing
		case *ast.BlockStmt:
			e.statements(n.List)
		case *ast.CaseClause:
			e.statements(n.Body)
		case *ast.CommClause:
			e.statements(n.Body)
		case *ast.IfStmt:
			e.condition(n.Cond)
			if e.text(n.Cond) == "err != nil" && len(n.Body.List) == 1 {
				e.failing = n.Body.List[0]
			}
		case *ast.ForStmt:
			if n.Cond != nil {
				e.condition(n.Cond)
			}
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, c := range n.Body.List {
					for _, cond := range c.(*ast.CaseClause).List {
						e.condition(cond)
					}
				}
			}
		case *ast.BinaryExpr:
			if isConstant(e.info, n) && (n.Op == token.SHL || n.Op == token.SHR) {
				return false // its type is that of the enclosing literal
			}
			e.binary(n)
		case *ast.UnaryExpr:
			if lit, ok := n.X.(*ast.BasicLit); ok && n.Op == token.SUB && lit.Kind == token.INT {
				e.number(n) // the number alone has no type yet
				return false
			}
		case *ast.BasicLit:
			e.literal(n)
		}
		return true
	})
}

func (e *editor) function(t *ast.FuncType, body *ast.BlockStmt) {
	e.results = append(e.results, t)
	e.walk(body)
	e.results = e.results[:len(e.results)-1]
}

func isConstant(info *types.Info, x ast.Expr) bool { return info.Types[x].Value != nil }

// opposite and boundary are what an operator may be mistaken for.
var (
	opposite = map[token.Token]string{token.EQL: "!=", token.NEQ: "==", token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<", token.LAND: "||", token.LOR: "&&"}
	boundary = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
)

// condition negates the parts of a condition.
func (e *editor) condition(x ast.Expr) {
	switch y := x.(type) {
	case *ast.ParenExpr:
		e.condition(y.X)
		return
	case *ast.BinaryExpr: // walk visits it anyway
		return
	}
	if !isConstant(e.info, x) {
		e.replace(x, "bool", "!("+e.text(x)+")", "%s becomes its opposite", e.text(x))
	}
}

func (e *editor) binary(n *ast.BinaryExpr) {
	if isConstant(e.info, n) {
		return
	}
	for _, others := range []map[token.Token]string{opposite, boundary} {
		if with, ok := others[n.Op]; ok {
			other := e.source[e.offset(n.Pos()):e.offset(n.OpPos)] + with + e.source[e.offset(n.OpPos)+len(n.Op.String()):e.offset(n.End())]
			e.replace(n, "bool", other, "%s becomes %s: %s", n.Op, with, e.text(n))
		}
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		e.condition(n.X)
		e.condition(n.Y)
	}
}

// literal changes numbers and SQL.
func (e *editor) literal(n *ast.BasicLit) {
	t := e.info.Types[n].Type
	if t == nil {
		return
	}
	name, ok := e.typeName(t)
	switch {
	case !ok:
	case n.Kind == token.INT:
		e.number(n)
	case n.Kind == token.STRING:
		value, err := strconv.Unquote(n.Value)
		if err != nil {
			return
		}
		for _, m := range sqlMutants(value) {
			e.replace(n, name, strconv.Quote(m.text), "%s", m.what)
		}
	}
}

// number changes a number by one.
func (e *editor) number(n ast.Expr) {
	t := e.info.Types[n].Type
	if t == nil {
		return
	}
	if name, ok := e.typeName(t); ok {
		zero := "*new(" + name + ")" // a variable: a constant would have to fit
		e.replace(n, name, zero+" + 1 + "+e.text(n), "%s becomes one more: %s", e.text(n), e.line(n))
		e.replace(n, name, zero+" - 1 + "+e.text(n), "%s becomes one less: %s", e.text(n), e.line(n))
	}
}

func (e *editor) line(n ast.Node) string {
	at := e.offset(n.Pos())
	from := strings.LastIndexByte(e.source[:at], '\n') + 1
	to := len(e.source)
	if i := strings.IndexByte(e.source[at:], '\n'); i >= 0 {
		to = at + i
	}
	return strings.TrimSpace(e.source[from:to])
}

// typeName returns how the file can name a type.
func (e *editor) typeName(t types.Type) (string, bool) {
	if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		t = types.Default(t)
	}
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg() != e.pkg && !e.imports[named.Obj().Pkg().Path()] {
		return "", false
	}
	if _, ok := t.Underlying().(*types.Basic); !ok {
		return "", false
	}
	return types.TypeString(t, func(p *types.Package) string {
		if p == e.pkg {
			return ""
		}
		return p.Name()
	}), true
}

// statements drops some statements of a list, and makes others return nothing.
func (e *editor) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			e.returns(s)
			continue
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" {
					continue
				}
			}
		case *ast.BranchStmt:
			if s.Tok != token.BREAK && s.Tok != token.CONTINUE {
				continue
			}
		case *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		default:
			continue
		}
		e.wrap(s, fmt.Sprintf("if !mutantIs(%d) { ", e.add(s, "dropped: %s", e.text(s))), " }")
	}
}

// returns makes a function return zero values. It leaves an error alone that is only passed on:
// only a failing disk or process reaches it, which test/faults covers.
func (e *editor) returns(s *ast.ReturnStmt) {
	t := e.results[len(e.results)-1]
	if len(s.Results) == 0 || t.Results == nil {
		return
	}
	zero := true
	for _, x := range s.Results {
		zero = zero && isZero(x)
	}
	var zeros []string
	for _, field := range t.Results.List {
		for range max(1, len(field.Names)) {
			zeros = append(zeros, "*new("+e.text(field.Type)+")")
		}
	}
	before := ""
	if !zero && !handsOn(s.Results) && s != e.failing {
		before = fmt.Sprintf("if mutantIs(%d) { return %s }; ", e.add(s, "zero: %s", e.text(s)), strings.Join(zeros, ", "))
	}
	if text := e.text(s); len(zeros) == 1 && e.text(t.Results.List[0].Type) == "bool" && text != "return true" {
		before += fmt.Sprintf("if mutantIs(%d) { return true }; ", e.add(s, "true: %s", text))
	}
	if before != "" {
		e.wrap(s, before, "")
	}
}

// handsOn reports whether all results but the last, an error, are zero.
func handsOn(results []ast.Expr) bool {
	for _, x := range results[:len(results)-1] {
		if !isZero(x) {
			return false
		}
	}
	switch last := results[len(results)-1].(type) {
	case *ast.Ident:
		return last.Name == "err"
	case *ast.CallExpr:
		f, ok := last.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Errorf"
	}
	return false
}

func isZero(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "nil" || x.Name == "false"
	case *ast.BasicLit:
		return x.Value == "0" || x.Value == `""`
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	}
	return false
}
