package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// A Style is how a caller builds its prompts.
type Style int

// The styles of callers.
const (
	Growing    Style = iota // every prompt repeats the one before and adds a block
	Transcript              // the conversation so far, with the answers, and a new turn
	Revised                 // with a name: sections are replaced, added, removed
	Loop                    // the same prompt again and again
	Templates               // with a name: two templates in turn
	styles
)

// A Thread is one role of one job. It must never share a session with another.
type Thread struct {
	Key    string // job and role
	Job    string
	Role   string
	Tool   string
	Dir    string // below the project
	Style  Style
	Named  bool // the caller names job and role to the shim
	Format string
	Way    Way
	Hasty  bool // in a conversation the next call begins while the last one is winding down

	rng     *rand.Rand
	world   *World
	opening string
	rules   string
	job     string // the block that the job's roles share
	facts   []string
	turns   [][2]string // question and answer
	calls   int
}

// A Way is how a prompt gets to the tool.
type Way int

// The ways of a prompt.
const (
	InArgs Way = iota
	OnStdin
	OnBoth
	ways
)

// markOwners maps each mark to its owner.
type markOwners struct {
	mu    sync.Mutex
	owner map[string]string // "" for a text that every thread sends
}

func (m *markOwners) add(mark, owner string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owner[mark] = owner
}

// foreign returns the marks that belong neither to this thread nor its job, and are not common.
func (m *markOwners) foreign(t *Thread, marks []string) (found []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mark := range marks {
		owner, known := m.owner[mark]
		if !known || owner != "" && owner != t.Key && owner != t.Job {
			found = append(found, fmt.Sprintf("%s of %q", mark, owner))
		}
	}
	return found
}

func (w *World) mark(rng *rand.Rand, owner string) string {
	m := fmt.Sprintf("KQZ%012x", rng.Uint64()&(1<<48-1))
	w.marks.add(m, owner)
	return m
}

var words = strings.Fields(`the a of in every when must should file test function name error handler request user
	cache value order button page field check write read remove keep small large first last never always before`)

// text returns a paragraph of some words, with a mark in it.
func (w *World) text(rng *rand.Rand, owner string, n int) string {
	var b strings.Builder
	b.WriteString("Note " + w.mark(rng, owner) + ":")
	for i := range n {
		b.WriteString(" " + draw(rng, words))
		if i%14 == 13 {
			b.WriteString("\n")
		}
	}
	return strings.TrimRight(b.String(), "\n") + "."
}

// newThreads creates the callers of a world: jobs that share templates, directories and names, in
// several roles.
func (w *World) newThreads() {
	rng := w.rng(0)
	var openings, rules [2]string
	for i := range openings {
		openings[i] = "You are the coder of this project. " + w.text(rng, "", 12)
		rules[i] = "## Rules\n\n" + w.text(rng, "", 400)
	}
	for i := range 7 {
		job := fmt.Sprintf("job%d", i)
		// twice as often as the others
		tool := draw(rng, append(slices.Sorted(maps.Keys(lines)), "claude"))
		dir := fmt.Sprintf("d%d", rng.IntN(2))
		style, named, template := Style(rng.IntN(int(styles))), rng.IntN(3) == 0, rng.IntN(2)
		common := "## Job\n\n" + w.text(rng, job, 30)
		for j, role := range []string{"coder", "reviewer"}[:1+rng.IntN(2)] {
			t := &Thread{
				Key: job + "/" + role, Job: job, Role: role, Tool: tool, Dir: dir, Style: style,
				Named: named || style == Revised ||
					style == Templates, Format: draw(rng, formats(tool)),
				Way: Way(rng.IntN(int(ways))), Hasty: rng.IntN(2) == 0 && style != Transcript,
				world: w, rules: rules[template], opening: openings[template], job: common,
				rng: w.rng(1<<16 | i<<8 | j),
			}
			if slices.Contains([]string{"copilot", "droid", "opencode", "vibe"}, tool) &&
				t.Way == OnBoth {
				// stdin is not read if there is a prompt in argv; opencode puts no empty line
				// between them
				t.Way = OnStdin
			}
			if j > 0 || rng.IntN(2) == 0 {
				t.opening = "You are the " + role + ". " + w.text(rng, t.Key, 12)
			}
			w.threads = append(w.threads, t)
		}
	}
}

// formats returns the formats of a tool's threads. Three of claude's seven are conversations, in
// which most can go wrong.
func formats(tool string) []string {
	list := slices.Sorted(maps.Keys(lines[tool]))
	if tool == "claude" {
		list = append(list, "frames", "frames")
	}
	return list
}

const contract = "## Contract\n\nPrint STATUS: REVIEW when you are done."

// A message is a prompt with a fact that the caller knows about it.
type message struct {
	text  string
	fresh bool // it must never be resumed
}

// next returns the thread's next prompt.
func (t *Thread) next() message {
	t.calls++
	fact := func(n int) string { return t.world.text(t.rng, t.Key, n) }
	parts := []string{t.opening, t.rules, t.job}
	m := message{}
	switch t.Style {
	case Growing:
		t.facts = append(t.facts, fact(20+t.rng.IntN(60)))
		for i, f := range t.facts {
			parts = append(parts, fmt.Sprintf("## Notes %d\n\n%s", i, f))
		}
	case Loop:
		if len(t.facts) == 0 {
			t.facts = []string{fact(30)}
		}
		parts = append(parts, t.facts[0])
		m.fresh = true
	case Revised:
		if len(t.facts) > 2 && t.rng.IntN(4) == 0 {
			i := t.rng.IntN(len(t.facts))
			t.facts = slices.Delete(t.facts, i, i+1)
		}
		t.facts = append(t.facts, fact(40))
		parts = append(parts, fmt.Sprintf("This is round %d. %s", t.calls, fact(10)))
		parts = append(parts, t.facts...)
	case Templates:
		t.facts = append(t.facts, fact(40))
		if t.calls%2 == 0 {
			parts = []string{"Go on with " + t.world.mark(t.rng, t.Key) + ", please.",
				t.facts[len(t.facts)-1]}
		} else {
			parts = append(parts, t.facts...)
		}
	case Transcript:
		return t.transcript(parts)
	}
	m.text = strings.Join(append(parts, contract), "\n\n") + "\n"
	return m
}

// transcript returns the conversation so far, sometimes with an answer changed: such a prompt
// matches no session.
func (t *Thread) transcript(parts []string) (m message) {
	if len(t.turns) > 1 && t.rng.IntN(6) == 0 {
		i := t.rng.IntN(len(t.turns) - 1)
		t.turns[i][1] = "Rather " + t.world.text(t.rng, t.Key, 15)
	}
	for _, turn := range t.turns {
		parts = append(parts, "## user\n\n"+turn[0], "## assistant\n\n"+turn[1])
	}
	question := t.world.text(t.rng, t.Key, 20)
	t.turns = append(t.turns, [2]string{question, ""})
	m.text = strings.Join(append(parts, "## user\n\n"+question), "\n\n") + "\n"
	return m
}

// answered gives the thread the answer, "" if there was no usable one.
func (t *Thread) answered(answer string) {
	if t.Style != Transcript {
		return
	}
	last := len(t.turns) - 1
	if answer == "" {
		t.turns = t.turns[:last] // asked again, in other words
		return
	}
	t.turns[last][1] = answer
}
