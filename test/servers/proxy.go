package servers

import (
	"net"
	"sync"
	"time"
)

// A Proxy passes TCP connections on to a server. It can lose and delay data.
type Proxy struct {
	listener net.Listener
	target   string
	trip     time.Duration

	mu    sync.Mutex
	mode  Mode
	conns []net.Conn
}

// A Mode says which data a proxy passes on.
type Mode int

// The modes of a proxy.
const (
	Pass        Mode = iota
	LoseAnswers      // requests; it closes a connection when its answer comes
	Hold             // none; it accepts connections and requests
)

// NewProxy starts a proxy on loopback. A request and its answer take a trip together on the way.
func NewProxy(target string, trip time.Duration) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, trip: trip}
	go p.serve()
	return p, nil
}

// Address returns the proxy's host and port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Set sets the mode.
func (p *Proxy) Set(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		conn.Close()
	}
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Cut()
	return err
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
	time.Sleep(p.trip) // of TCP's own
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()
	go p.copy(server, client, false)
	p.copy(client, server, true)
}

// copy passes data on, later by half a trip, and closes both ends when it cannot.
func (p *Proxy) copy(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	for buffer := make([]byte, 1<<20); ; {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		time.Sleep(p.trip / 2)
		p.mu.Lock()
		mode := p.mode
		p.mu.Unlock()
		if mode == LoseAnswers && answers {
			return
		}
		if mode != Hold {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
}
