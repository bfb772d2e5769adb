"""Runs the agents of one Python SDK in one process, because importing an SDK takes seconds.

    python driver.py with_langchain

Each line of standard input is a request, each line of standard output what one came to; requests run side by side.

    {"id": 1, "op": "start", "conversation": "a", "options": {"dialect", "stream", "base", "max_retries", "edits", ...}}
    {"id": 2, "op": "ask", "conversation": "a", "prompt": "..."}       -> {"id": 2, "answer": "..."}
    {"id": 3, "op": "summarize", "conversation": "a"}                  -> {"id": 3, "answer": null}
    {"id": 4, "op": "fork", "conversation": "a", "name": "b"}          -> {"id": 4, "answer": null}

Or {"id": 4, "error": {"types", "status", "code", "message", "trace"}}, `types` being the names of the exception's classes. The process ends with its input.
"""

import asyncio
import importlib
import json
import sys
import traceback

conversations = {}


async def perform(sdk, request):
    name = request["conversation"]
    match request["op"]:
        case "start":
            conversations[name] = sdk.Conversation(request["options"])
        case "ask":
            return await conversations[name].ask(request["prompt"])
        case "summarize":
            await conversations[name].summarize()
        case "fork":
            conversations[request["name"]] = await conversations[name].fork()
        case other:
            raise ValueError(f"unknown operation {other}")


def described(error):
    return {
        "types": [one.__name__ for one in type(error).__mro__],
        "status": getattr(error, "status_code", None),
        "code": getattr(error, "code", None),
        "message": str(error),
        "trace": traceback.format_exc(),
    }


async def answer(sdk, request, output):
    try:
        line = {"id": request["id"], "answer": await perform(sdk, request)}
    except Exception as error:
        line = {"id": request["id"], "error": described(error)}
    output.write(json.dumps(line) + "\n")
    output.flush()


async def main():
    sdk = importlib.import_module(sys.argv[1])
    output, sys.stdout = sys.stdout, sys.stderr  # what an SDK prints is not an answer
    running = set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        running.add(asyncio.create_task(answer(sdk, json.loads(line), output)))
    await asyncio.gather(*running)


asyncio.run(main())
