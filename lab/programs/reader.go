// A web server whose every request reads blocks of a file, one after the other, past the page cache or
// from it, and then asks another service once.
package main

import (
	"flag"
	"io"
	"math/rand"
	"net/http"
	"os"
	"syscall"
)

const (
	block   = 4096
	buffers = 64
)

var (
	port    = flag.String("port", "", "where to listen")
	path    = flag.String("file", "", "what is read")
	reads   = flag.Int("reads", 1, "how many blocks a request reads")
	direct  = flag.Bool("direct", false, "read past the page cache")
	service = flag.String("service", "", "address of the service behind")
)

var (
	file   *os.File
	blocks int64
	free   = make(chan []byte, buffers)
	client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: buffers}}
)

// begin opens the file, and makes buffers that begin with a page, as reads past the page cache want it.
func begin() error {
	flags := os.O_RDONLY
	if *direct {
		flags |= syscall.O_DIRECT
	}
	opened, err := os.OpenFile(*path, flags, 0)
	if err != nil {
		return err
	}
	file = opened
	about, err := file.Stat()
	if err != nil {
		return err
	}
	blocks = about.Size() / block
	for number := 0; number < buffers; number++ {
		access, kind := syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE
		buffer, err := syscall.Mmap(-1, 0, block, access, kind)
		if err != nil {
			return err
		}
		free <- buffer
	}
	return nil
}

func read() error {
	buffer := <-free
	defer func() { free <- buffer }()
	for number := 0; number < *reads; number++ {
		if _, err := file.ReadAt(buffer, rand.Int63n(blocks)*block); err != nil {
			return err
		}
	}
	return nil
}

func ask() error {
	answer, err := client.Get("http://" + *service + "/")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func answer(response http.ResponseWriter, _ *http.Request) {
	if err := read(); err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
		return
	}
	if err := ask(); err != nil {
		http.Error(response, err.Error(), http.StatusBadGateway)
		return
	}
	io.WriteString(response, "ok\n")
}

func main() {
	flag.Parse()
	if err := begin(); err != nil {
		panic(err)
	}
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(answer)))
}
