// Command standin runs the stand-in for the model APIs, for use from a shell. It prints its URL on
// the first line and stops on SIGINT or SIGTERM.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"reprise/test/markers"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "loopback `address` to listen on")
	path := flag.String("log", os.DevNull,
		"append each request to this `file`, a line of JSON each")
	flag.Parse()
	if err := run(*addr, *path); err != nil {
		log.Fatal("standin: ", err)
	}
}

func run(addr, path string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	server, err := markers.Start(markers.Options{Addr: addr, Log: file})
	if err != nil {
		return err
	}
	fmt.Println(server.URL())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	return server.Close()
}
