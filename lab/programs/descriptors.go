// A web server that takes its time for an answer, with a goroutine for each connection. It has as many connections at a
// time as it may have files open: who comes then waits in the kernel until it tries again.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

const takes = 10 * time.Millisecond

func main() {
	// It complains at each try.
	log.SetOutput(io.Discard)
	answer := func(response http.ResponseWriter, _ *http.Request) {
		time.Sleep(takes)
		io.WriteString(response, "ok\n")
	}
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(answer)))
}
