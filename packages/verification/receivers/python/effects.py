"""A handler for `call-webhooks check --effects`: it does what the call id asks for, and counts."""

import re
import threading
import time
from collections import Counter

attempts, effects, lock = Counter(), Counter(), threading.Lock()


def handle(event):
    key = f"{event['callId']}:{event['eventName']}"
    with lock:
        attempts[key] += 1
        attempt = attempts[key]
    time.sleep(asked("slow", key) / 1000)
    if attempt <= asked("fail", key):
        raise RuntimeError("as asked")
    with lock:
        effects[key] += 1


def report():
    with lock:
        return [{"key": key, "count": count} for key, count in effects.items()]


def asked(what, key):
    match = re.search(rf"\.{what}-(\d+)", key)
    return int(match[1]) if match else 0
