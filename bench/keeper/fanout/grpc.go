package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"sync"
)

type request struct {
	url  string
	body []byte
}

type grpc struct {
	isEtcd       bool
	watch, write request
	client       *http.Client
}

func (to *grpc) subscribe(connections, watches int) []subscriber {
	clients := make([]*http.Client, connections)
	for i := range clients {
		clients[i] = client()
	}
	all := make([]subscriber, watches)
	var ready sync.WaitGroup
	for i := range all {
		ready.Add(1)
		go func() {
			defer ready.Done()
			all[i] = subscriber{1, to.open(clients[i%connections])}
		}()
	}
	ready.Wait()
	return all
}

func (to *grpc) open(client *http.Client) func() int {
	var body io.Reader = bytes.NewReader(to.watch.body)
	if to.isEtcd {
		never, _ := io.Pipe()
		body = io.MultiReader(body, never)
	}
	response := to.post(client, to.watch.url, body)
	messages := bufio.NewReader(response.Body)
	prefix := make([]byte, 5)
	var message []byte
	next := func() int {
		_, err := io.ReadFull(messages, prefix)
		check(err)
		length := int(binary.BigEndian.Uint32(prefix[1:]))
		if !to.isEtcd {
			_, err = messages.Discard(length)
			check(err)
			return 1
		}
		if cap(message) < length {
			message = make([]byte, length)
		}
		message = message[:length]
		_, err = io.ReadFull(messages, message)
		check(err)
		return fields11(message)
	}
	if to.isEtcd {
		next()
	}
	return next
}

func (to *grpc) writer() func() {
	return func() {
		response := to.post(to.client, to.write.url, bytes.NewReader(to.write.body))
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if status := response.Trailer.Get("grpc-status"); status != "0" {
			fail("%s: %s %s", to.write.url, status, response.Trailer.Get("grpc-message"))
		}
	}
}

// One connection of its own, HTTP/2 without TLS.
func client() *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: &protocols}}
}

func (to *grpc) post(client *http.Client, url string, body io.Reader) *http.Response {
	request, err := http.NewRequest(http.MethodPost, url, body)
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
