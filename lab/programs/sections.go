// A web server whose every request reads a table of small records from a file, one record after the other, by a reader
// that asks the kernel for each of them, or by one with a buffer.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
)

const records = 4000

var (
	port     = flag.String("port", "", "where to listen")
	path     = flag.String("file", "", "the table")
	buffered = flag.Bool("buffered", false, "read with a buffer")
)

func sum() (uint64, error) {
	file, err := os.Open(*path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var reader io.Reader = file
	if *buffered {
		reader = bufio.NewReader(file)
	}
	total, record := uint64(0), make([]byte, 8)
	for number := 0; number < records; number++ {
		if _, err := io.ReadFull(reader, record); err != nil {
			return 0, err
		}
		total += binary.LittleEndian.Uint64(record)
	}
	return total, nil
}

func answer(response http.ResponseWriter, _ *http.Request) {
	total, err := sum()
	if err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(response, total)
}

func main() {
	flag.Parse()
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(answer)))
}
