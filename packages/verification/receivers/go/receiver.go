package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance    = 5 * time.Minute
	rememberIDs  = 10 * time.Minute // as long as a signature can verify
	answerWithin = 25 * time.Second // the service waits for 30
)

type event struct {
	EventName string `json:"eventName"`
	CallID    string `json:"callId"`
	EventID   string `json:"eventId"`
}

// A receiver keeps events in memory, so it is for one process. Replace the two maps by a table for more.
type receiver struct {
	keys   [][]byte
	handle func(event) error
	lock   sync.Mutex
	ids    map[string]time.Time // until when a webhook id is remembered
	done   map[string]bool      // false while the handler runs
}

func newReceiver(secrets []string, handle func(event) error) *receiver {
	r := &receiver{handle: handle, ids: map[string]time.Time{}, done: map[string]bool{}}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			panic("a secret is not base64")
		}
		r.keys = append(r.keys, key)
	}
	return r
}

// receive takes the raw bytes and returns the status of the response.
func (r *receiver) receive(headers http.Header, body []byte) int {
	id := headers.Get("X-Service-Webhook-Id")
	if !r.isAuthentic(id, headers.Get("X-Service-Timestamp"), headers.Get("X-Service-Signature"), body) {
		return 401
	}
	if headers.Get("Content-Encoding") != "" {
		return 415
	}
	if !r.remember(id) {
		return 409
	}
	if !json.Valid(body) {
		return 422
	}
	var e event
	if json.Unmarshal(body, &e) != nil {
		return 200 // valid, but none of the events: a custom payload
	}
	if key := keyOf(e); key != "" {
		return r.run(key, e)
	}
	return 200
}

var digits = regexp.MustCompile(`^[0-9]{1,12}$`)

func (r *receiver) isAuthentic(id, timestamp, signature string, body []byte) bool {
	if id == "" || !digits.MatchString(timestamp) || !strings.HasPrefix(signature, "v1,") {
		return false
	}
	seconds, _ := strconv.ParseInt(timestamp, 10, 64)
	if time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	for _, key := range r.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		computed := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if hmac.Equal([]byte(computed), []byte(signature[len("v1,"):])) {
			return true
		}
	}
	return false
}

func (r *receiver) remember(id string) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	for known, until := range r.ids {
		if time.Now().After(until) {
			delete(r.ids, known)
		}
	}
	if _, known := r.ids[id]; known {
		return false
	}
	r.ids[id] = time.Now().Add(rememberIDs)
	return true
}

func (r *receiver) run(key string, e event) int {
	r.lock.Lock()
	done, known := r.done[key]
	if !known {
		r.done[key] = false
	}
	r.lock.Unlock()
	if done {
		return 200
	}
	if known {
		return 503
	}
	result := make(chan error, 1)
	go func() {
		err := r.handle(e)
		r.lock.Lock()
		defer r.lock.Unlock()
		if err == nil {
			r.done[key] = true
		} else {
			delete(r.done, key)
		}
		result <- err
	}()
	select {
	case err := <-result:
		if err != nil {
			return 500
		}
		return 200
	case <-time.After(answerWithin):
		return 503 // it goes on, and the retry finds it done
	}
}

// keyOf returns what identifies duplicates, and nothing for what nobody handles. The webhook id is new in
// each attempt.
func keyOf(e event) string {
	switch e.EventName {
	case "call:recording-available":
		if e.EventID != "" {
			return e.EventID
		}
	case "call:started", "call:completed":
	default:
		return ""
	}
	if e.CallID == "" {
		return ""
	}
	return e.CallID + ":" + e.EventName
}
