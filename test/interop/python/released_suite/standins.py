"""What the package's tests hold in their hands, with a proxy of ours behind it.

Their tests build the model server in their own process. Here the server is a proxy at `PROXY_URL`, the engine behind it is an HTTP server in this process that asks
whichever stand-in of an engine the running test made, and the ledger is what the proxy's trainer side answers.
"""

import asyncio
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
from aiohttp import ClientResponseError

PROXY_URL = os.environ["PROXY_URL"]
CONTROL = {"authorization": f"Bearer {os.environ['CONTROL_TOKEN']}"}
CONTROL_PATH = "/training-token-capture/control/rollouts"
CLIENT = {"base_url": PROXY_URL, "timeout": 60, "verify": False, "trust_env": False}


class EngineServer:
    """`target.create_chat_completion(**body)` over HTTP."""

    def __init__(self, port):
        self.target = None
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                try:
                    status, content = 200, json.dumps(asyncio.run(server.target.create_chat_completion(**body))).encode()
                except ClientResponseError as error:
                    status, content = error.status, error.response_content
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=http.serve_forever, daemon=True).start()


class ProxyApp:
    """An ASGI application that is the proxy. Counts the replies that it served, and keeps the last."""

    def __init__(self):
        self.served = 0
        self.last_body = b""

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            while True:
                phase = (await receive())["type"].removeprefix("lifespan.")
                await send({"type": f"lifespan.{phase}.complete"})
                if phase == "shutdown":
                    return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        kept = [(key, value) for key, value in scope["headers"] if key in (b"content-type", b"authorization")]
        async with httpx.AsyncClient(**CLIENT) as client:
            request = client.build_request(scope["method"], scope["path"], content=body, headers=kept)
            response = await client.send(request, stream=True)
            self.served += response.status_code == 200 and scope["method"] == "POST"
            self.last_body = b""
            await send({"type": "http.response.start", "status": response.status_code, "headers": response.headers.raw})
            async for chunk in response.aiter_raw():
                self.last_body += chunk
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})


class ProxyLedger:
    """The ledger of the proxy. `record` is awaited once for every record, when it is seen first: their tests count those."""

    def __init__(self, *_):
        self._seen = set()

    async def record(self, _):
        pass

    async def manifest(self, rollout_id):
        async with httpx.AsyncClient(**CLIENT, headers=CONTROL) as client:
            manifest = (await client.get(f"{CONTROL_PATH}/{rollout_id}/manifest")).raise_for_status().json()
        for record in manifest["records"]:
            if record["model_call_id"] not in self._seen:
                self._seen.add(record["model_call_id"])
                await self.record(record)
        return manifest

    async def close(self):
        pass


def forget(*rollout_ids):
    """Their tests use the same few names again and again."""
    with httpx.Client(**CLIENT, headers=CONTROL) as client:
        client.post(f"{CONTROL_PATH}/delete", json={"rollout_ids": rollout_ids}).raise_for_status()
