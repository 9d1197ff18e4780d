// Fanout opens many watches on one server, has something happen there, and says how many events
// per second reached all watchers together, and how many microseconds of processor time each took
// the server, whose process id is given. It speaks just enough of each server's protocol, and
// knows the messages only as far as events must be counted in them.
//
//	fanout KIND ADDRESS PID CONNECTIONS WATCHES EVENTS WATCH-PATH WATCH-BODY WRITE-PATH WRITE-BODY
//	fanout redis ADDRESS PID CONNECTIONS WATCHES EVENTS CHANNEL PAYLOAD
//
// Bodies are hexadecimal. To a "keeper" a watch is one request, and each message an event. To
// "etcd" it is a stream of requests that must stay open; its first message says that the watch was
// created, later ones hold an event in each field 11. For Redis see redis.go.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	writers = 16
	timeout = 2 * time.Minute
)

// A subscriber of one or more watches. Its events are those of all its watches together.
type subscriber struct {
	watches int
	// Waits for more, and says how many events came.
	next func() int
}

type server interface {
	// Returns when all watches are open.
	subscribe(connections, watches int) []subscriber
	// Returns what has one event happen; each writer has its own.
	writer() func()
}

func main() {
	kind, address := os.Args[1], os.Args[2]
	pid, connections, watches := os.Args[3], number(os.Args[4]), number(os.Args[5])
	events, words := number(os.Args[6]), os.Args[7:]
	var to server
	if kind == "redis" {
		to = redis{address, words[0], words[1]}
	} else {
		to = &grpc{
			isEtcd: kind == "etcd",
			watch:  request{"http://" + address + words[0], framed(words[1])},
			write:  request{"http://" + address + words[2], framed(words[3])},
			client: client(),
		}
	}

	subscribers := to.subscribe(connections, watches)
	var done sync.WaitGroup
	var delivered atomic.Int64
	usedUs, started := cpuUs(pid), time.Now()
	for _, each := range subscribers {
		done.Add(1)
		go func() {
			defer done.Done()
			for seen := 0; seen < each.watches*events; {
				count := each.next()
				seen += count
				delivered.Add(int64(count))
			}
		}()
	}
	var left atomic.Int64
	left.Store(int64(events))
	for range writers {
		done.Add(1)
		go func() {
			defer done.Done()
			write := to.writer()
			for left.Add(-1) >= 0 {
				write()
			}
		}()
	}
	time.AfterFunc(timeout, func() {
		fail("only %d of %d events were delivered", delivered.Load(), watches*events)
	})
	done.Wait()
	count := float64(delivered.Load())
	perSecond := count / time.Since(started).Seconds()
	fmt.Printf("%.0f %f\n", perSecond, float64(cpuUs(pid)-usedUs)/count)
}

// In ticks of 10 ms, behind the name of the program, which is in brackets.
func cpuUs(pid string) int {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	check(err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	return (number(fields[11]) + number(fields[12])) * 10_000
}

func framed(hexadecimal string) []byte {
	body, err := hex.DecodeString(hexadecimal)
	check(err)
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
