package servers

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A Proxy passes TCP connections on to a server. It can lose and delay data.
type Proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	mode  mode
	trip  time.Duration
	conns map[net.Conn]bool
}

type mode int

const (
	pass mode = iota
	loseAnswers
	hold
)

// NewProxy starts a proxy on loopback.
func NewProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, conns: map[net.Conn]bool{}}
	go p.serve()
	return p, nil
}

// Address returns the proxy's host and port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Pass ends Hold and LoseAnswers for connections to come.
func (p *Proxy) Pass() { p.set(pass) }

// LoseAnswers lets requests through, and closes a connection when its answer comes.
func (p *Proxy) LoseAnswers() { p.set(loseAnswers) }

// Hold accepts connections and requests, and passes nothing on.
func (p *Proxy) Hold() { p.set(hold) }

// SetTrip sets how long a request and its answer take together on the way.
func (p *Proxy) SetTrip(trip time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trip = trip
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Cut()
	return err
}

func (p *Proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
}

func (p *Proxy) state() (mode, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode, p.trip
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.connect(client)
	}
}

func (p *Proxy) connect(client net.Conn) {
	_, trip := p.state()
	time.Sleep(trip) // of TCP's own
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client, false) })
	both.Go(func() { p.copy(client, server, true) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

var errLost = errors.New("lost")

// copy passes data on, later by half a trip, and closes both ends when it cannot.
func (p *Proxy) copy(to, from net.Conn, answers bool) {
	type piece struct {
		content []byte
		due     time.Time
	}
	pieces := make(chan piece, 1024)
	var writer sync.WaitGroup
	writer.Go(func() {
		for piece := range pieces {
			time.Sleep(time.Until(piece.due))
			if _, err := to.Write(piece.content); err != nil {
				from.Close() // ends the reader
			}
		}
	})
	for err := error(nil); err == nil; {
		buffer := make([]byte, 32<<10)
		var n int
		n, err = from.Read(buffer)
		mode, trip := p.state()
		switch {
		case n == 0 || mode == hold:
		case mode == loseAnswers && answers:
			err = errLost
		default:
			pieces <- piece{buffer[:n], time.Now().Add(trip / 2)}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			break
		}
	}
	close(pieces)
	writer.Wait()
	to.Close()
	from.Close()
}
