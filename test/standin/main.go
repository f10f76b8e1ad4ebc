// Command standin runs the stand-in for the model APIs, for use from a shell. It prints its URL on
// the first line and stops on SIGINT or SIGTERM.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"reprise/test/markers"
)

func main() {
	path := flag.String("log", os.DevNull,
		"append each request to this `file`, a line of JSON each")
	flag.Parse()
	if err := run(*path); err != nil {
		log.Fatal("standin: ", err)
	}
}

func run(path string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	server, err := markers.Start(markers.Options{})
	if err != nil {
		return err
	}
	fmt.Println(server.URL())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lines, logged := json.NewEncoder(file), 0
	for ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		for _, r := range server.Requests()[logged:] {
			if err := lines.Encode(r); err != nil {
				return err
			}
			logged++
		}
	}
	return server.Close()
}
