package main

import (
	"fmt"
	"strings"
	"time"

	"reprise/internal/demo"
)

// rounds is how often the coder submits: the reviewer accepts the last.
var rounds = 5

// A shape is how callers assemble their prompts.
type shape struct {
	name   string
	what   string
	prompt func(j *job, role string) string
	roles  []string
	env    func(j *job, tool, role string) []string
	// commits is whether the caller commits before each call.
	commits bool
	// pause is how long the caller waits before each round.
	pause time.Duration
	// config is added to the configuration.
	config string
	// known is whether the caller has done such a job before.
	known bool
}

// A job is the state of a job so far.
type job struct {
	id      string
	round   int      // from 1
	answers []string // of the coder, one for each round
	reviews []string
}

var shapes = []shape{
	{
		name: "notes", what: "coder and reviewer, the notes of all rounds behind the task",
		prompt: notes, roles: []string{"coder", "reviewer"},
	},
	{
		name: "steroids", what: "coder and reviewer, the latest notes in the place of the ones " +
			"before; the task is named",
		prompt: latest, roles: []string{"coder", "reviewer"},
		env: named,
	},
	{
		name: "commits", what: "as steroids, and the caller commits before each call",
		prompt: latest, roles: []string{"coder", "reviewer"}, env: named, commits: true,
	},
	{
		name: "slow", what: "as steroids, with ten minutes before each round",
		prompt: latest, roles: []string{"coder", "reviewer"}, env: named, pause: 10 * time.Minute,
	},
	{
		name: "slow-auto", what: "as slow, the second of two such jobs, with cache_ttl = \"auto\"",
		prompt: latest, roles: []string{"coder", "reviewer"}, env: named, pause: 10 * time.Minute,
		config: "cache_ttl = \"auto\"\n", known: true,
	},
	{
		name: "transcript", what: "one coder in a conversation that is sent whole each time",
		prompt: transcript, roles: []string{"coder"},
	},
	{
		name: "single", what: "a writer that reads no files: each call is one request; the task " +
			"is named",
		prompt: remarks, roles: []string{"writer"}, env: variables,
	},
}

func named(j *job, tool, role string) []string {
	if tool == "claude" {
		return nil // the preset reads the task from the prompt
	}
	return variables(j, tool, role)
}

func variables(j *job, _, role string) []string {
	return []string{"REPRISE_TASK=" + j.id, "REPRISE_ROLE=" + role}
}

func standards(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- Rule %d: keep functions small, name things for what they are, and "+
			"write a test for case %d.\n", i+1, i+1)
	}
	return b.String()
}

var (
	files  = "- " + strings.Join(demo.Files, "\n- ") + "\n"
	target = demo.Files[len(demo.Files)-1]
)

const task = demo.Task + "\nAccepted at revision %d.\n"

// Openings and standards are not the demo's: docs/explanation/savings.md was measured with these,
// and a demo of another length would change its figures.
var openings = map[string]string{
	"coder": "You are the coder of a small project. You change what the task asks for, and " +
		"nothing else.",
	"reviewer": "You are the reviewer of a small project. You judge a change by its code, and " +
		"change nothing.",
}

func rejection(round int, review string) string {
	verdict, _, _ := strings.Cut(review, "\n")
	return fmt.Sprintf("## Rejection %d\n\nIn %s: %s\n\n", round, target, verdict)
}

func resubmitted(round int) string {
	return fmt.Sprintf("## Submission %d\n\nChanged: %s\n\n", round, target)
}

// notes returns a prompt with the notes of all rounds.
func notes(j *job, role string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n## Specification\n\n"+task+"\n## Read first\n\n%s\n## Standards\n\n%s\n",
		openings[role], rounds, files, standards(40))
	for i := 1; i < j.round; i++ {
		if role == "coder" {
			b.WriteString(rejection(i, j.reviews[i-1]))
		} else {
			b.WriteString(resubmitted(i + 1))
		}
	}
	return b.String() + demo.Contracts[role]
}

func latest(j *job, role string) string {
	status := "pending → in_progress"
	if j.round > 1 {
		status = "review → in_progress"
	}
	article := map[string]string{"coder": "a CODER", "reviewer": "a REVIEWER"}[role]
	var b strings.Builder
	fmt.Fprintf(&b, "# TASK: %s - Close the store without losing errors\n# Status: %s | "+
		"Rejections: %d/15\n\n"+
		"You are %s in an automated task system. You do your part of the task below as its "+
		"specification says.\n\n---\n\n"+
		"## Specification (Read First)\n\n"+task+"\n## Task Context\n\nRevisions in the "+
		"workspace so far: %d\n\n%s\n## WORKFLOW INSTRUCTIONS\n\n%s\n",
		j.id, status, j.round-1, article, rounds, j.round-1, files, standards(40))
	switch {
	case j.round == 1:
		b.WriteString("## FIRST SUBMISSION\n\n- [ ] every part of the specification is met\n\n")
	case role == "coder":
		b.WriteString(rejection(j.round-1, j.reviews[j.round-2]))
	default:
		b.WriteString(resubmitted(j.round))
	}
	return b.String() + demo.Contracts[role]
}

// remarks returns a prompt that names no file, with the remarks on each round's text.
func remarks(j *job, _ string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are the writer of a handbook.\n\n## Rules of the house\n\n%s\n",
		standards(300))
	for i := 1; i < j.round; i++ {
		fmt.Fprintf(&b, "## Remark %d\n\nParagraph %d says the same thing twice. Say it once, "+
			"and shorter.\n\n", i, i)
	}
	return b.String() + "## Answer\n\nWrite the next paragraph of the handbook.\n"
}

func transcript(j *job, _ string) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"# Instructions\n\n%s\n\n%s\n# Conversation\n\nHuman: "+task+"\nRead these first:\n%s",
		openings["coder"], standards(40), rounds, files)
	for i := 1; i < j.round; i++ {
		fmt.Fprintf(&b, "\nAssistant: %s\n\nHuman: That is revision %d. Improve %s once more.\n",
			j.answers[i-1], i, target)
	}
	return b.String()
}
