"""Receives notifications from Skyhook: verifies them (https://www.standardwebhooks.com), stores each once, answers, then works.

Run it: WEBHOOK_SECRET=whsec_… python3 receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import queue
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "").removeprefix("whsec_"))
if len(KEY) < 24:
    raise SystemExit("WEBHOOK_SECRET must be whsec_ and base64")
TOLERANCE_SECONDS = 300
MAX_BYTES = 1_000_000

# In your program, use a database table with a unique key: a restart loses nothing and repeats nothing.
stored = {}
storing = threading.Lock()
waiting = queue.Queue()


def is_genuine(headers, body):
    message_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    # An old message may be a replay by somebody who copied it.
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    # The signature covers the raw bytes: parse them afterwards.
    wanted = hmac.digest(KEY, f"{message_id}.{sent_at}.".encode() + body, hashlib.sha256)
    signature = b"v1," + base64.b64encode(wanted)
    # During a rotation there are several signatures. One must match.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(signature, one.encode()) for one in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        if length > MAX_BYTES:
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_genuine(self.headers, body):
            return self.answer(401)
        with storing:
            is_new = self.headers["webhook-id"] not in stored
            stored.setdefault(self.headers["webhook-id"], body)
        # Skyhook retries if there is no response within 10 s, so respond first, then work.
        self.answer(204)
        if is_new:
            waiting.put(body)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def work():
    while True:
        data = json.loads(waiting.get())["data"]
        print(f"[{data['severity']}] {data['title']}", flush=True)


threading.Thread(target=work, daemon=True).start()
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 4000))), Receiver)
print(f"Listening at http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
