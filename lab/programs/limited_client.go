// A web server each request of which asks another service, through a client that lets no more than so many questions per second
// out, as the one for the interface of Kubernetes does; a question waits for its turn in the program itself.
//
// limited_client PORT SERVICE QUESTIONS_PER_SECOND
package main

import (
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

const connections = 16

var client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}

// limiter gives out one turn after the other.
type limiter struct {
	mutex sync.Mutex
	every time.Duration
	next  time.Time
}

func (of *limiter) wait() {
	of.mutex.Lock()
	now := time.Now()
	if of.next.Before(now) {
		of.next = now
	}
	turn := of.next
	of.next = turn.Add(of.every)
	of.mutex.Unlock()
	time.Sleep(turn.Sub(now))
}

func ask(service string) error {
	answer, err := client.Get("http://" + service + "/")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func main() {
	port, service := os.Args[1], os.Args[2]
	rate, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	turns := limiter{every: time.Second / time.Duration(rate)}
	answer := func(response http.ResponseWriter, _ *http.Request) {
		turns.wait()
		if err := ask(service); err != nil {
			http.Error(response, err.Error(), http.StatusBadGateway)
			return
		}
		io.WriteString(response, "ok\n")
	}
	panic(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(answer)))
}
