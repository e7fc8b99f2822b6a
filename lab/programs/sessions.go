// A web server that keeps a session in a file with each request, as careful programs do: it writes a new file, gives it
// the name of the old one, and syncs both file and folder, so that a crash leaves one or the other.
package main

import (
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

const sessions = 64

var (
	port   = flag.String("port", "", "where to listen")
	folder = flag.String("folder", "", "where the sessions are")
	syncs  = flag.Bool("sync", false, "sync file and folder before the answer")
)

var (
	record = make([]byte, 512)
	number atomic.Int64
)

func syncFolder() error {
	opened, err := os.Open(*folder)
	if err != nil {
		return err
	}
	defer opened.Close()
	return opened.Sync()
}

func write() (string, error) {
	file, err := os.CreateTemp(*folder, "new")
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := file.Write(record); err != nil || !*syncs {
		return file.Name(), err
	}
	return file.Name(), file.Sync()
}

func keep(session string) error {
	written, err := write()
	if err != nil {
		return err
	}
	if err := os.Rename(written, filepath.Join(*folder, session)); err != nil || !*syncs {
		return err
	}
	return syncFolder()
}

func answer(response http.ResponseWriter, _ *http.Request) {
	session := strconv.FormatInt(number.Add(1)%sessions, 10)
	if err := keep(session); err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
		return
	}
	io.WriteString(response, "ok\n")
}

func main() {
	flag.Parse()
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(answer)))
}
