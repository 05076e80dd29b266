// A receiver in Go: CALL_WEBHOOK_SECRET=… PORT=3000 go run .
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

const bodyLimit = 1_000_000 // bytes

func main() {
	receiver := newReceiver(strings.Fields(os.Getenv("CALL_WEBHOOK_SECRET")), handle)
	http.HandleFunc("/effects", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(report())
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.TrimRight(r.URL.Path, "/") != "/hook" {
			w.WriteHeader(http.StatusServiceUnavailable) // never 404: it would pause the rule
			return
		}
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(receiver.receive(r.Header, body))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
