package main

import (
	"errors"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/promptcache"
)

// clockFile says, beside the model's address, how far the model's clock is ahead.
const clockFile = "clock"

// model is a model for the bundled tool until it is interrupted. It writes its address into a file.
func model() {
	ahead := func() time.Duration {
		text, _ := os.ReadFile(clockFile)
		d, _ := time.ParseDuration(strings.TrimSpace(string(text)))
		return d
	}
	s, err := standin.Start(standin.Options{Measure: promptcache.New(promptcache.Options{
		Now: func() time.Time { return time.Now().Add(ahead()) }}),
		Reply: func(standin.Request) standin.Reply { return standin.Reply{Text: "ok"} }})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(os.Args[1]+".new", []byte(s.URL()), 0o600),
		os.Rename(os.Args[1]+".new", os.Args[1])); err != nil {
		log.Fatal(err)
	}
	done := make(chan os.Signal, 1)
	signal.Notify(done, os.Interrupt)
	<-done
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
}

// later lets time pass for the model and, by moving all that was recorded into the past, for the
// ledger.
func later() {
	d, err := time.ParseDuration(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	was, _ := os.ReadFile(clockFile)
	before, _ := time.ParseDuration(strings.TrimSpace(string(was)))
	err = errors.Join(os.WriteFile(clockFile, []byte((before+d).String()), 0o600),
		harness.AgeLedger(filepath.Join(os.Getenv("HOME"), ".local", "state", "reprise",
			"ledger.db"), d))
	if err != nil {
		log.Fatal(err)
	}
}
