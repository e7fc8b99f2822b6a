// The same in Go, whose programs have frame pointers and no unwinding tables.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

func cpu() float64 {
	var t syscall.Timespec
	const clockThreadCPUTime = 3
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Sec) + float64(t.Nsec)/1e9
}

var sink uint64

func rounds(count int) {
	sum := sink
	for i := 0; i < count; i++ {
		sum = sum*6364136223846793005 + uint64(i)
	}
	sink = sum
}

//go:noinline
func heavyGo(begun float64) float64 {
	rounds(600000)
	return cpu() - begun
}

//go:noinline
func middleGo(begun float64) float64 {
	rounds(300000)
	return cpu() - begun
}

//go:noinline
func lightGo(begun float64) float64 {
	rounds(100000)
	return cpu() - begun
}

func main() {
	runtime.LockOSThread()
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	var spent [3]float64
	for cpu() < seconds {
		spent[0] += heavyGo(cpu())
		spent[1] += middleGo(cpu())
		spent[2] += lightGo(cpu())
	}
	fmt.Println("go", spent[0], spent[1], spent[2])
}
