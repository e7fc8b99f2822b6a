// A web server whose every request asks another service several times, one after the other, as code
// does that looks up each row of a list by itself, and then writes to a journal and syncs it. There are
// so many journals that no request waits for another's.
package main

import (
	"flag"
	"io"
	"net/http"
	"os"
)

const journals = 64

var (
	port    = flag.String("port", "", "where to listen")
	service = flag.String("service", "", "address of the service behind")
	calls   = flag.Int("calls", 1, "how often a request asks it")
	folder  = flag.String("journals", "", "folder of the journals")
	syncs   = flag.Bool("sync", false, "sync the journal before the answer")
)

var (
	record = make([]byte, 512)
	free   = make(chan *os.File, journals)
	client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: journals}}
)

func ask() error {
	answer, err := client.Get("http://" + *service + "/")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func write() error {
	journal := <-free
	defer func() { free <- journal }()
	if _, err := journal.Write(record); err != nil || !*syncs {
		return err
	}
	return journal.Sync()
}

func answer(response http.ResponseWriter, _ *http.Request) {
	for call := 0; call < *calls; call++ {
		if err := ask(); err != nil {
			http.Error(response, err.Error(), http.StatusBadGateway)
			return
		}
	}
	if err := write(); err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
		return
	}
	io.WriteString(response, "ok\n")
}

func main() {
	flag.Parse()
	for number := 0; number < journals; number++ {
		journal, err := os.CreateTemp(*folder, "journal")
		if err != nil {
			panic(err)
		}
		free <- journal
	}
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(answer)))
}
