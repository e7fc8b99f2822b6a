// The same in Go, in system calls: a goroutine that waits for another has no thread.
package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

func rest(ms int64) {
	t := syscall.NsecToTimespec(ms * 1000000)
	syscall.Nanosleep(&t, nil)
}

//go:noinline
func heavyGo() float64 {
	begun := time.Now()
	rest(6)
	return time.Since(begun).Seconds()
}

//go:noinline
func middleGo() float64 {
	begun := time.Now()
	rest(3)
	return time.Since(begun).Seconds()
}

//go:noinline
func lightGo() float64 {
	begun := time.Now()
	rest(1)
	return time.Since(begun).Seconds()
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	var spent [3]float64
	for begun := time.Now(); time.Since(begun).Seconds() < seconds; {
		spent[0] += heavyGo()
		spent[1] += middleGo()
		spent[2] += lightGo()
	}
	fmt.Println("go", spent[0], spent[1], spent[2])
}
