"""A receiver with nothing but Python: CALL_WEBHOOK_SECRET=… PORT=3000 python3 standard_library.py"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import effects
from call_webhooks import Receiver

LIMIT = 1_000_000  # bytes
receiver = Receiver(os.environ["CALL_WEBHOOK_SECRET"].split(), effects.handle)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds

    def do_POST(self):
        if self.path.split("?")[0].rstrip("/") != "/hook":
            return self.answer(503)  # never 404: it would pause the rule
        body = self.body()
        self.answer(400 if body is None else receiver.receive(self.headers, body))

    def do_GET(self):
        if self.path == "/effects":
            return self.answer(200, json.dumps(effects.report()).encode())
        self.answer(405)

    def body(self):
        """The raw bytes; None if they are not all there."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return self.chunks()
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > LIMIT:
            return None
        body = self.rfile.read(int(length))
        return body if len(body) == int(length) else None

    def chunks(self):
        body = b""
        while True:
            try:
                size = int(self.rfile.readline(100).split(b";")[0], 16)
            except ValueError:
                return None
            if size < 0 or len(body) + size > LIMIT:
                return None
            chunk = self.rfile.read(size)
            if len(chunk) < size or self.rfile.readline(100) not in (b"\r\n", b"\n"):
                return None
            if size == 0:
                return body
            body += chunk

    def answer(self, status, content=b""):
        if status == 400:
            self.close_connection = True  # the rest of the body may still come
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Handler)
server.daemon_threads = True
server.serve_forever()
