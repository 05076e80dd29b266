package main

import (
	"errors"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// A handler for `call-webhooks check --effects`: it does what the call id asks for, and counts.

var (
	lock     sync.Mutex
	attempts = map[string]int{}
	effects  = map[string]int{}
	slow     = regexp.MustCompile(`\.slow-(\d+)`)
	fail     = regexp.MustCompile(`\.fail-(\d+)`)
)

func handle(e event) error {
	key := e.CallID + ":" + e.EventName
	lock.Lock()
	attempts[key]++
	attempt := attempts[key]
	lock.Unlock()
	time.Sleep(time.Duration(asked(slow, key)) * time.Millisecond)
	if attempt <= asked(fail, key) {
		return errors.New("as asked")
	}
	lock.Lock()
	defer lock.Unlock()
	effects[key]++
	return nil
}

type effect struct {
	Key   string `json:"key"`
	Count int    `json:"count"`
}

func report() []effect {
	lock.Lock()
	defer lock.Unlock()
	list := []effect{}
	for key, count := range effects {
		list = append(list, effect{key, count})
	}
	return list
}

func asked(what *regexp.Regexp, key string) int {
	match := what.FindStringSubmatch(key)
	if match == nil {
		return 0
	}
	number, _ := strconv.Atoi(match[1])
	return number
}
