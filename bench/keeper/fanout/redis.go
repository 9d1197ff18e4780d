// Redis delivers what is published to a channel once to each subscription of a connection. Many
// watches of one channel on one connection are patterns that match it, each with two characters of
// its own.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

type redis struct{ address, channel, payload string }

func (to redis) subscribe(connections, watches int) []subscriber {
	all := make([]subscriber, connections)
	var ready sync.WaitGroup
	for i := range all {
		ready.Add(1)
		go func() {
			defer ready.Done()
			all[i] = to.open(watches / connections)
		}()
	}
	ready.Wait()
	return all
}

func (to redis) open(watches int) subscriber {
	connection, replies := to.dial()
	if watches == 1 {
		send(connection, "SUBSCRIBE", to.channel)
	} else {
		last := len(to.channel) - 1
		words := []string{"PSUBSCRIBE"}
		for i := range watches {
			words = append(words, fmt.Sprintf("%s[%s%02d]", to.channel[:last], to.channel[last:], i))
		}
		send(connection, words...)
	}
	for range watches {
		read(replies)
	}
	return subscriber{watches, func() int {
		read(replies)
		return 1
	}}
}

func (to redis) writer() func() {
	connection, replies := to.dial()
	return func() {
		send(connection, "PUBLISH", to.channel, to.payload)
		read(replies)
	}
}

func (to redis) dial() (net.Conn, *bufio.Reader) {
	connection, err := net.Dial("tcp", to.address)
	check(err)
	return connection, bufio.NewReader(connection)
}

func send(connection net.Conn, words ...string) {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(word), word)
	}
	_, err := io.WriteString(connection, text.String())
	check(err)
}

// Passes over one reply, with all that is in it.
func read(replies *bufio.Reader) {
	line, err := replies.ReadSlice('\n')
	check(err)
	kind, text := line[0], string(bytes.TrimSpace(line[1:]))
	switch kind {
	case '*':
		for range number(text) {
			read(replies)
		}
	case '$':
		length, err := strconv.Atoi(text)
		check(err)
		_, err = replies.Discard(length + 2)
		check(err)
	case ':', '+':
	default:
		fail("Redis says %s", line)
	}
}
