// A web server with a goroutine for each connection. A request sleeps while it holds the server's one
// mutex, or beside it: in either case goroutines wait, and no thread does.
package main

import (
	"bufio"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

var mutex sync.Mutex

func main() {
	locked, beside := microseconds(os.Args[2]), microseconds(os.Args[3])
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go serve(connection, locked, beside)
	}
}

func microseconds(text string) time.Duration {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(number) * time.Microsecond
}

func serve(connection net.Conn, locked, beside time.Duration) {
	defer connection.Close()
	lines := bufio.NewReader(connection)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if line != "\r\n" {
			continue
		}
		mutex.Lock()
		time.Sleep(locked)
		mutex.Unlock()
		time.Sleep(beside)
		if _, err := connection.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")); err != nil {
			return
		}
	}
}
