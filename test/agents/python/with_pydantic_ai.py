"""pydantic-ai: Chat, Responses and Messages, plain and streamed; the messages are handed on by the caller."""

import base64
import functools

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent, BinaryContent, ModelRetry
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

import tools
from tools import INSTRUCTIONS, SUMMARIZE_NOW, SUMMARIZER, summary_message


@functools.wraps(tools.fragile)
def fragile(reason: str) -> str:
    try:
        return tools.fragile(reason)
    except ValueError as error:
        raise ModelRetry(str(error)) from error  # how a tool tells the model of its error


TOOLS = [fragile if one is tools.fragile else one for one in tools.TOOLS]


def photo() -> BinaryContent:
    """Takes a photo."""
    return BinaryContent(base64.b64decode(tools.PHOTO_DATA), media_type=tools.PHOTO_TYPE)


def clear_outputs(messages):
    """A processor of the history: all tool outputs but the newest lose their text."""
    outputs = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    for part in outputs[:-1]:
        part.content = "[cleared]"
    return messages


def connect(options):
    retries = {"max_retries": options["max_retries"]} if "max_retries" in options else {}
    if options["dialect"] == "messages":
        client = AsyncAnthropic(base_url=options["base"], api_key="none", **retries)
        return AnthropicModel("policy", provider=AnthropicProvider(anthropic_client=client))
    client = AsyncOpenAI(base_url=f"{options['base']}/v1", api_key="none", **retries)
    kind = OpenAIResponsesModel if options["dialect"] == "responses" else OpenAIChatModel
    return kind("policy", provider=OpenAIProvider(openai_client=client))


class Conversation:
    def __init__(self, options, history=()):
        self.options = options
        self.model = connect(options)
        capabilities = [ProcessHistory(clear_outputs)] if options.get("edits") else []
        self.agent = Agent(
            self.model,
            instructions=INSTRUCTIONS,
            tools=[*TOOLS, photo] if options.get("photo") else TOOLS,
            retries={"tools": 5},
            capabilities=capabilities,
        )
        self.history = list(history)

    async def ask(self, prompt):
        if not self.options["stream"]:
            return self.keep(await self.agent.run(prompt, message_history=self.history))
        async with self.agent.run_stream_events(prompt, message_history=self.history) as events:
            async for event in events:
                if event.event_kind == "agent_run_result":
                    return self.keep(event.result)
        raise RuntimeError("the run ended without a result")

    def keep(self, result):
        self.history = result.all_messages()
        return result.output

    async def summarize(self):
        """The messages are replaced by the summary that an agent without tools makes of them."""
        writer = Agent(self.model, instructions=SUMMARIZER)
        result = await writer.run(SUMMARIZE_NOW, message_history=self.history)
        self.history = [ModelRequest(parts=[UserPromptPart(content=summary_message(result.output))])]

    async def fork(self):
        return Conversation(self.options, self.history)
