// A store of keys that writes each change to a log and then to its table, and has the disk keep either before it goes on,
// as those do that agree on their changes; without -sync it leaves that for later. There are so many of both that no
// request waits for another's.
package main

import (
	"flag"
	"io"
	"net/http"
	"os"
)

const shards = 16

// shard has what a change is written to, one after the other.
type shard [2]*os.File

var (
	listen = flag.String("listen", "", "where to listen")
	folder = flag.String("folder", "", "folder of the files")
	syncs  = flag.Bool("sync", false, "wait for the disk before the answer")
)

var (
	change = make([]byte, 512)
	free   = make(chan shard, shards)
)

func write() error {
	of := <-free
	defer func() { free <- of }()
	for _, file := range of {
		if _, err := file.Write(change); err != nil {
			return err
		}
		if !*syncs {
			continue
		}
		if err := file.Sync(); err != nil {
			return err
		}
	}
	return nil
}

func answer(response http.ResponseWriter, _ *http.Request) {
	if err := write(); err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
		return
	}
	io.WriteString(response, "ok\n")
}

func main() {
	flag.Parse()
	for number := 0; number < shards; number++ {
		var of shard
		for at, name := range []string{"log", "table"} {
			file, err := os.CreateTemp(*folder, name)
			if err != nil {
				panic(err)
			}
			of[at] = file
		}
		free <- of
	}
	panic(http.ListenAndServe(*listen, http.HandlerFunc(answer)))
}
