// A web server that asks another service once for each request, over no more connections than its transport may open
// to one host. Who finds none free waits in a list of the transport, which no thread and no socket shows.
package main

import (
	"flag"
	"io"
	"net/http"
)

// More than there are requests at a time: none is closed because nobody needs it for a moment.
const idle = 64

var (
	port        = flag.String("port", "", "where to listen")
	service     = flag.String("service", "", "address of the service behind")
	connections = flag.Int("connections", 2, "connections to it at most")
)

func main() {
	flag.Parse()
	transport := &http.Transport{MaxConnsPerHost: *connections, MaxIdleConnsPerHost: idle}
	client := http.Client{Transport: transport}
	answer := func(response http.ResponseWriter, _ *http.Request) {
		got, err := client.Get("http://" + *service + "/")
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadGateway)
			return
		}
		defer got.Body.Close()
		io.Copy(response, got.Body)
	}
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(answer)))
}
