// A web server that answers at once and has leaked goroutines: so many wait for a message that nobody will send.
package main

import (
	"flag"
	"net/http"
)

func main() {
	port := flag.String("port", "", "where it listens")
	leaked := flag.Int("leaked", 0, "goroutines that wait for ever")
	flag.Parse()
	never := make(chan int)
	for range make([]struct{}, *leaked) {
		go func() { <-never }()
	}
	http.HandleFunc("/", func(answer http.ResponseWriter, _ *http.Request) {
		answer.Write([]byte("ok\n"))
	})
	panic(http.ListenAndServe("127.0.0.1:"+*port, nil))
}
