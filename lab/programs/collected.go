// A web server whose every request makes many small objects, below a table of others that stays, so that collections of
// garbage take a good part of its CPU time, in threads of the runtime's own: as many as the machine has CPUs.
package main

import (
	"flag"
	"io"
	"net/http"
)

type row struct {
	next *row
	text [5]int64
}

var (
	port  = flag.String("port", "", "where to listen")
	stays = flag.Int("stays", 400000, "objects that stay")
	rows  = flag.Int("rows", 5000, "objects of a request")
	table []*row
)

func chain(count int) *row {
	var last *row
	for number := 0; number < count; number++ {
		last = &row{next: last}
		last.text[0] = int64(number)
	}
	return last
}

func answer(response http.ResponseWriter, _ *http.Request) {
	sum := int64(0)
	for each := chain(*rows); each != nil; each = each.next {
		sum += each.text[0]
	}
	if sum < 0 {
		http.Error(response, "no sum", http.StatusInternalServerError)
		return
	}
	io.WriteString(response, "ok\n")
}

func main() {
	flag.Parse()
	for number := 0; number < *stays; number++ {
		table = append(table, chain(1))
	}
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(answer)))
}
