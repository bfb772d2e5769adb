"""Agents on the official `openai` and `anthropic` packages.

Reads a list of jobs as JSON, `[{"dialect": "chat" | "responses" | "messages", "base_url", "stream"}]`, and does one after another. An agent works until the
model calls no more tools, sending back exactly what the package gave it, and asks once more. Prints what it saw, as JSON.
"""

import json
import sys

import anthropic
import openai

TASK = "Do the task."
DESCRIPTION = "runs a command"
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
SETTINGS = {"api_key": "none", "max_retries": 0, "timeout": 60}


class Chat:
    tools = [{"type": "function", "function": {"name": "bash", "description": DESCRIPTION, "parameters": SCHEMA}}]

    def __init__(self, base_url):
        self.client = openai.OpenAI(base_url=f"{base_url}/v1", **SETTINGS)
        self.messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TASK}]

    def says(self, text):
        self.messages.append({"role": "user", "content": text})

    def ask(self, stream):
        request = {"model": "policy", "messages": self.messages, "tools": self.tools}
        if stream:
            with self.client.chat.completions.stream(**request, stream_options={"include_usage": True}) as events:
                for _ in events:
                    pass
                completion = events.get_final_completion()
        else:
            completion = self.client.chat.completions.create(**request)
        message = completion.choices[0].message
        self.messages.append(message)
        calls = message.tool_calls or []
        for call in calls:
            output = f"output of {call.function.arguments}"
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
        return completion.id, message.content, len(calls), completion.usage.total_tokens


class Responses:
    tools = [{"type": "function", "name": "bash", "description": DESCRIPTION, "parameters": SCHEMA, "strict": False}]

    def __init__(self, base_url):
        self.client = openai.OpenAI(base_url=f"{base_url}/v1", **SETTINGS)
        self.input = [{"role": "user", "content": TASK}]

    def says(self, text):
        self.input.append({"role": "user", "content": text})

    def ask(self, stream):
        request = {"model": "policy", "input": self.input, "tools": self.tools, "instructions": "Be brief."}
        if stream:
            with self.client.responses.stream(**request) as events:
                for _ in events:
                    pass
                response = events.get_final_response()
        else:
            response = self.client.responses.create(**request)
        self.input += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        for call in calls:
            output = f"output of {call.arguments}"
            self.input.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
        return response.id, response.output_text or None, len(calls), response.usage.total_tokens


class Messages:
    tools = [{"name": "bash", "description": DESCRIPTION, "input_schema": SCHEMA}]

    def __init__(self, base_url):
        self.client = anthropic.Anthropic(base_url=base_url, **SETTINGS)
        self.messages = [{"role": "user", "content": TASK}]

    def says(self, text):
        self.messages.append({"role": "user", "content": text})

    def ask(self, stream):
        request = {
            "model": "policy",
            "max_tokens": 1000,
            "system": "Be brief.",
            "messages": self.messages,
            "tools": self.tools,
        }
        if stream:
            with self.client.messages.stream(**request) as events:
                for _ in events:
                    pass
                message = events.get_final_message()
        else:
            message = self.client.messages.create(**request)
        self.messages.append({"role": "assistant", "content": message.content})
        calls = [block for block in message.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": f"output of {json.dumps(call.input)}"}
            for call in calls
        ]
        if results:
            self.messages.append({"role": "user", "content": results})
        text = "".join(block.text for block in message.content if block.type == "text") or None
        return message.id, text, len(calls), message.usage.input_tokens + message.usage.output_tokens


AGENTS = {"chat": Chat, "responses": Responses, "messages": Messages}


def work(job):
    agent = AGENTS[job["dialect"]](job["base_url"])
    models = [model.id for model in agent.client.models.list()]
    turns = []
    asked_again = False
    while True:
        turns.append(agent.ask(job["stream"]))
        if turns[-1][2] > 0:
            continue
        if asked_again:
            return {"models": models, "turns": turns}
        agent.says("Go on.")
        asked_again = True


json.dump([work(job) for job in json.load(sys.stdin)], sys.stdout)
