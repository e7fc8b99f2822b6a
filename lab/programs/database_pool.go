// A web server that asks a database once for each request, over one of the few connections of its pool, as those of
// database/sql with SetMaxOpenConns. Who finds none free waits for one.
package main

import (
	"bufio"
	"flag"
	"io"
	"net"
	"net/http"
)

var (
	port        = flag.String("port", "", "where to listen")
	database    = flag.String("database", "", "address of the database")
	connections = flag.Int("connections", 2, "connections of the pool")
)

type connection struct {
	socket  net.Conn
	answers *bufio.Reader
}

func (c connection) ask() error {
	if _, err := io.WriteString(c.socket, "GET / HTTP/1.1\r\nHost: database\r\n\r\n"); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func main() {
	flag.Parse()
	pool := make(chan connection, *connections)
	for range make([]struct{}, *connections) {
		socket, err := net.Dial("tcp", *database)
		if err != nil {
			panic(err)
		}
		pool <- connection{socket, bufio.NewReader(socket)}
	}
	answer := func(response http.ResponseWriter, _ *http.Request) {
		taken := <-pool
		err := taken.ask()
		pool <- taken
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadGateway)
			return
		}
		io.WriteString(response, "ok\n")
	}
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(answer)))
}
