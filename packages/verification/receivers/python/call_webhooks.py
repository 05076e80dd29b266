"""Verifies call webhooks, keeps replays and duplicates out, and runs a handler. Events are kept in SQLite."""

import base64
import hashlib
import hmac
import json
import re
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong

TOLERANCE = 300  # seconds
REMEMBER_IDS = 600  # seconds: as long as a signature can verify
ANSWER_WITHIN = 25  # seconds: the service waits for 30
LEASE = 240  # seconds: after a crash, a retry may run the event
EVENTS = {"call:started", "call:completed", "call:recording-available"}


class Receiver:
    """`handle(event)` runs once for each event, and again after it raised."""

    def __init__(self, secrets, handle, database=":memory:"):
        self.keys = [base64.b64decode(secret.removeprefix("whsec_")) for secret in secrets]
        self.handle = handle
        self.threads = ThreadPoolExecutor(32)
        self.lock = threading.Lock()
        self.db = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
        self.db.execute("CREATE TABLE IF NOT EXISTS webhook_ids (id TEXT PRIMARY KEY, until REAL)")
        self.db.execute("CREATE TABLE IF NOT EXISTS events (key TEXT PRIMARY KEY, done INT, lease REAL)")

    def receive(self, headers, body):
        """Takes the headers (`get(name)`) and the raw bytes. Returns the status of the response."""
        webhook_id = headers.get("X-Service-Webhook-Id")
        if not self.is_authentic(webhook_id, headers, body):
            return 401
        if headers.get("Content-Encoding"):
            return 415
        now = time.time()
        self.execute("DELETE FROM webhook_ids WHERE until < ?", now)
        if not self.execute("INSERT OR IGNORE INTO webhook_ids VALUES (?, ?)", webhook_id, now + REMEMBER_IDS):
            return 409
        try:
            event = json.loads(body)
        except (ValueError, RecursionError):
            return 422
        key = key_of(event)
        return 200 if key is None else self.run(key, event)

    def is_authentic(self, webhook_id, headers, body):
        timestamp = headers.get("X-Service-Timestamp")
        signature = headers.get("X-Service-Signature")
        if not webhook_id or not timestamp or not signature or not signature.startswith("v1,"):
            return False
        if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE:
            return False
        signed = f"{webhook_id}.{timestamp}.".encode("latin-1", "replace") + body
        given = signature[3:].encode("latin-1", "replace")
        return any(hmac.compare_digest(signature_of(key, signed), given) for key in self.keys)

    def run(self, key, event):
        now = time.time()
        claimed = self.execute(
            "INSERT INTO events VALUES (?, 0, ?) ON CONFLICT (key) DO UPDATE SET lease = excluded.lease"
            " WHERE done = 0 AND lease < ?",
            key, now + LEASE, now,
        )
        if not claimed:
            return 200 if self.is_done(key) else 503
        try:
            self.threads.submit(self.run_claimed, key, event).result(ANSWER_WITHIN)
            return 200
        except TookTooLong:
            return 503  # it goes on, and the retry finds it done
        except Exception:
            return 500

    def run_claimed(self, key, event):
        try:
            self.handle(event)
        except BaseException:
            self.execute("DELETE FROM events WHERE key = ?", key)
            raise
        self.execute("UPDATE events SET done = 1 WHERE key = ?", key)

    def is_done(self, key):
        with self.lock:
            return bool((self.db.execute("SELECT done FROM events WHERE key = ?", [key]).fetchone() or [0])[0])

    def execute(self, statement, *values):
        with self.lock:
            return self.db.execute(statement, values).rowcount


def signature_of(key, signed):
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def key_of(event):
    """What identifies duplicates; None for what nobody handles. The webhook id is new in each attempt."""
    if not isinstance(event, dict):
        return None
    name, call_id, event_id = event.get("eventName"), event.get("callId"), event.get("eventId")
    if not isinstance(name, str) or name not in EVENTS:
        return None
    if name == "call:recording-available" and isinstance(event_id, str):
        return event_id
    return f"{call_id}:{name}" if isinstance(call_id, str) else None
