// Fanout opens many watches on one server, has something happen there, and says how many events
// per second reached all watchers together. It speaks just enough gRPC for the two servers that
// are compared, and knows the messages only as far as events must be counted in them.
//
//	fanout KIND ADDRESS STREAMS EVENTS WATCH-PATH WATCH-BODY WRITE-PATH WRITE-BODY
//
// Bodies are hexadecimal. To a "keeper" a watch is one request, and each message an event. To
// "etcd" it is a stream of requests that must stay open; its first message says that the watch was
// created, later ones hold an event in each field 11.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	connections = 10
	writers     = 16
	timeout     = 2 * time.Minute
)

func main() {
	isEtcd, address := os.Args[1] == "etcd", "http://"+os.Args[2]
	streams, events := number(os.Args[3]), number(os.Args[4])
	watchPath, watchBody := os.Args[5], framed(os.Args[6])
	writePath, writeBody := os.Args[7], framed(os.Args[8])
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()

	clients := make([]*http.Client, connections)
	for i := range clients {
		clients[i] = client()
	}
	var ready, done sync.WaitGroup
	var delivered atomic.Int64
	for i := range streams {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			seen := 0
			messages := watch(ctx, clients[i%connections], address+watchPath, watchBody, isEtcd)
			if isEtcd {
				messages()
			}
			ready.Done()
			for seen < events {
				count := 1
				if message := messages(); isEtcd {
					count = fields11(message)
				}
				seen += count
				delivered.Add(int64(count))
			}
		}()
	}
	ready.Wait()

	started := time.Now()
	write(ctx, client(), address+writePath, writeBody, events)
	done.Wait()
	seconds := time.Since(started).Seconds()
	if got := delivered.Load(); got < int64(streams*events) {
		fail("only %d of %d events were delivered", got, streams*events)
	}
	fmt.Printf("%.0f\n", float64(delivered.Load())/seconds)
}

// One connection of its own, HTTP/2 without TLS.
func client() *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: &protocols}}
}

func post(ctx context.Context, client *http.Client, url string, body io.Reader) *http.Response {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	check(err)
	request.Header.Set("content-type", "application/grpc")
	request.Header.Set("te", "trailers")
	response, err := client.Do(request)
	check(err)
	if status := response.Header.Get("grpc-status"); status != "" && status != "0" {
		fail("%s: %s %s", url, status, response.Header.Get("grpc-message"))
	}
	return response
}

// Returns what waits for the next message.
func watch(ctx context.Context, client *http.Client, url string, body []byte, staysOpen bool) func() []byte {
	var request io.Reader = bytes.NewReader(body)
	if staysOpen {
		never, _ := io.Pipe()
		request = io.MultiReader(request, never)
	}
	response := post(ctx, client, url, request)
	prefix := make([]byte, 5)
	return func() []byte {
		_, err := io.ReadFull(response.Body, prefix)
		check(err)
		message := make([]byte, binary.BigEndian.Uint32(prefix[1:]))
		_, err = io.ReadFull(response.Body, message)
		check(err)
		return message
	}
}

func write(ctx context.Context, client *http.Client, url string, body []byte, count int) {
	var left atomic.Int64
	left.Store(int64(count))
	var done sync.WaitGroup
	for range writers {
		done.Add(1)
		go func() {
			defer done.Done()
			for left.Add(-1) >= 0 {
				response := post(ctx, client, url, bytes.NewReader(body))
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if status := response.Trailer.Get("grpc-status"); status != "0" {
					fail("%s: %s %s", url, status, response.Trailer.Get("grpc-message"))
				}
			}
		}()
	}
	done.Wait()
}

// How often field 11, a message, is in a protobuf message.
func fields11(message []byte) int {
	count := 0
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		message = message[n:]
		switch key & 7 {
		case 0:
			_, n = binary.Uvarint(message)
			message = message[n:]
		case 2:
			length, n := binary.Uvarint(message)
			message = message[n+int(length):]
		default:
			fail("a field of type %d", key&7)
		}
		if key>>3 == 11 {
			count++
		}
	}
	return count
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
