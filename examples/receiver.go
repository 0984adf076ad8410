// Receives notifications from Skyhook: verifies them (https://www.standardwebhooks.com), stores each once, answers, then works.
// Run it: WEBHOOK_SECRET=whsec_… go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const tolerance, maxBytes = 300 * time.Second, 1_000_000

// In your program, use a database table with a unique key: a restart loses nothing and repeats nothing.
var stored sync.Map

func isGenuine(key []byte, header http.Header, body []byte) bool {
	id, sentAt := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age > tolerance || age < -tolerance {
		return false // An old message may be a replay of a copy.
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, sentAt, body)
	wanted := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// During a rotation there are several signatures. One must match.
	for _, given := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal(wanted, []byte(given)) {
			return true
		}
	}
	return false
}

func work(body []byte) {
	var message struct{ Data struct{ Severity, Title string } }
	if json.Unmarshal(body, &message) == nil {
		fmt.Printf("[%s] %s\n", message.Data.Severity, message.Data.Title)
	}
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) < 24 {
		log.Fatal("WEBHOOK_SECRET must be whsec_ and base64")
	}
	receive := func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBytes))
		if err != nil || !isGenuine(key, request.Header, body) {
			http.Error(response, "not from Skyhook", http.StatusUnauthorized)
			return
		}
		_, isKnown := stored.LoadOrStore(request.Header.Get("webhook-id"), body)
		// Skyhook retries if there is no response within 10 s, so respond first, then work.
		response.WriteHeader(http.StatusNoContent)
		if !isKnown {
			go work(body)
		}
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "4000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Listening at http://" + listener.Addr().String())
	log.Fatal(http.Serve(listener, http.HandlerFunc(receive)))
}
