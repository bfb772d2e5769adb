"""The published package as a peer of the proxy under test: workers, a trainer and an oracle behind one small HTTP server.

    POST /vllm/v1/chat/completions, GET /vllm/v1/models   an inference worker (engine.py); the same under /megatron
    POST /vllm/script    {"messages": [...]}    what its model says next
    POST /vllm/calls     {}                     what came from the proxy
    POST /vllm/audit     {...}                  the trainer's side of what this worker staged (audit.py)
    POST /oracle         {"ask": name, ...}     the package's own functions (oracle.py)

Prints `listening <port>` when it is ready and ends with its standard input.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from engine import Engine, Refused
from oracle import answer

MODELS = {"object": "list", "data": [{"id": "policy", "object": "model", "created": 0, "owned_by": "peer"}]}


def audited(body, sink):
    # Its control client loads half of the package: only who asks waits for that.
    from audit import audit

    return audit(body, sink)


def routes(kind):
    engine = Engine(kind)
    return {
        f"/{kind}/v1/models": lambda _: MODELS,
        f"/{kind}/v1/chat/completions": engine.complete,
        f"/{kind}/script": engine.script,
        f"/{kind}/calls": lambda _: {"calls": engine.calls},
        f"/{kind}/audit": lambda body: audited(body, engine.sink),
    }


ROUTES = {**routes("vllm"), **routes("megatron"), "/oracle": answer}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply(None)

    def do_POST(self):
        self.reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def reply(self, body):
        try:
            status, value = 200, ROUTES[self.path](body)
        except Refused as refusal:
            status, value = 400, {"error": {"message": str(refusal), "type": "BadRequestError", "param": None, "code": 400}}
        except Exception as error:
            status, value = 500, {"error": {"message": f"{type(error).__name__}: {error}", "type": "peer", "code": 500}}
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"listening {server.server_address[1]}", flush=True)
sys.stdin.read()
