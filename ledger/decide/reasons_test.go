package decide

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// decisionReasons reads from rewrite/reason/reason.go every reason that a managed call can
// be decided on by.
func decisionReasons(t *testing.T) []reason.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../rewrite/reason/reason.go", nil,
		parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	reasons := []reason.Code{reason.NoResume}
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || !strings.HasPrefix(block.Doc.Text(), "Reasons why a managed call is fresh") &&
			!strings.HasPrefix(block.Doc.Text(), "How a prompt relates") {
			continue
		}
		for _, spec := range block.Specs {
			text, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			reasons = append(reasons, reason.Code(text))
		}
	}
	if len(reasons) < 30 {
		t.Fatalf("only %d reasons were found: %q", len(reasons), reasons)
	}
	return reasons
}

// unreached are the reasons that no call through the shim comes to: a session with an error is
// given up before errors add up, and a scenario has one user and no store. Decide knows them all
// the same.
var unreached = map[reason.Code]bool{reason.ErrorLimit: true, reason.UserChanged: true,
	reason.CheckoutDiffers: true, reason.StoreUnavailable: true}

// Every reason has its row in the table of decisions, and a call in the scenario that looks for it
// in explain, status and the log.
func TestEveryReasonIsDecidedOn(t *testing.T) {
	scenario, err := os.ReadFile("../../testdata/script/reasons.txtar")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[reason.Code]bool{}
	for _, d := range decisions() {
		rows[d.reason] = true
	}
	for _, why := range decisionReasons(t) {
		if !rows[why] {
			t.Errorf("no row of TestDecide leads to %s", why)
		}
		if !unreached[why] && !strings.Contains(string(scenario), "$SH "+string(why)+" ") {
			t.Errorf("reasons.txtar has no call for %s", why)
		}
	}
}

// Reasons that blocked and its like give are guards, no others are: only then can a fresh run be
// compared with a resume.
func TestGuards(t *testing.T) {
	for _, d := range decisions() {
		f := goodFacts()
		d.change(&f)
		chain, why := choose(f)
		held := chain != nil && why == "" && d.mode == rewrite.Fresh
		if !f.Never && held != isGuard(d.reason) {
			t.Errorf("%s: %s is a guard: %v, want %v", d.name, d.reason, isGuard(d.reason), held)
		}
	}
}

// The side on which a call is counted.
func TestSides(t *testing.T) {
	for _, tt := range []struct {
		mode             rewrite.Mode
		reason, fellBack reason.Code
		want             Side
	}{
		{rewrite.Resume, reason.Extends, "", Resumed},
		{rewrite.Fresh, reason.Extends, reason.RefusedUnknown, FollowUp},
		{rewrite.Fresh, reason.HeldOut, "", FollowUp},
		{rewrite.Fresh, reason.Dearer, "", FollowUp},
		{rewrite.Fresh, reason.FirstCall, "", FirstRun},
		{rewrite.Fresh, reason.ContextReset, "", FirstRun},
		{rewrite.Fresh, reason.Identical, "", Unmeasured},
		{rewrite.Fresh, reason.BaseChanged, "", Unmeasured},
		{rewrite.Fresh, reason.NoEvidence, "", Unmeasured},
		{rewrite.Fresh, reason.Never, "", Unmeasured},
		{rewrite.Observe, reason.CallerSession, "", Unmeasured},
	} {
		if got := ClassifyRun(tt.mode, tt.reason, tt.fellBack); got != tt.want {
			t.Errorf("%s (%s), fallen back for %q: %q, want %q", tt.mode, tt.reason, tt.fellBack,
				got, tt.want)
		}
	}
}
