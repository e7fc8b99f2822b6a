// A web server whose every request is computed in parts, by as many goroutines at once, as services do that want
// their answers soon: it uses all CPUs for some ms, and then none.
package main

import (
	"crypto/sha256"
	"flag"
	"io"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// CLOCK_THREAD_CPUTIME_ID of clock_gettime(2), which package syscall does not have.
const ofThread = 3

// So many rounds between two looks at the clock.
const rounds = 100

var (
	port   = flag.String("port", "", "where to listen")
	parts  = flag.Int("parts", 8, "parts of a request")
	partUs = flag.Int64("part-us", 4000, "CPU time of a part, us")
)

// usedNs is the CPU time of the calling thread: a clock on the wall goes on while a thread may not run.
func usedNs() int64 {
	var used syscall.Timespec
	_, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, ofThread, uintptr(unsafe.Pointer(&used)), 0)
	if err != 0 {
		panic(err)
	}
	return used.Nano()
}

func compute() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sum := sha256.Sum256(nil)
	for end := usedNs() + *partUs*1000; usedNs() < end; {
		for round := 0; round < rounds; round++ {
			sum = sha256.Sum256(sum[:])
		}
	}
}

func answer(response http.ResponseWriter, _ *http.Request) {
	var computing sync.WaitGroup
	for part := 0; part < *parts; part++ {
		computing.Add(1)
		go func() {
			defer computing.Done()
			compute()
		}()
	}
	computing.Wait()
	io.WriteString(response, "ok\n")
}

func main() {
	flag.Parse()
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(answer)))
}
