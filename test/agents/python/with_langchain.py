"""LangChain: `create_agent` on LangGraph with langchain-openai (Chat, Responses) and langchain-anthropic (Messages)."""

from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
    ToolErrorMiddleware,
)
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from tools import INSTRUCTIONS, PHOTO_DATA, PHOTO_TYPE, TOOLS


def connect(options):
    settings = {"model": "policy", "api_key": "none"}
    if "max_retries" in options:
        settings["max_retries"] = options["max_retries"]
    if options["dialect"] == "messages":
        return ChatAnthropic(base_url=options["base"], max_tokens=4096, **settings)
    return ChatOpenAI(
        base_url=f"{options['base']}/v1", use_responses_api=options["dialect"] == "responses", **settings
    )


def photo() -> list:
    """Takes a photo."""
    return [{"type": "image", "base64": PHOTO_DATA, "mime_type": PHOTO_TYPE}]


class Conversation:
    def __init__(self, options, messages=()):
        self.options = options
        self.model = connect(options)
        self.messages = messages
        edits = [ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=0, keep=1)])]
        self.agent = self.build(edits if options.get("edits") else [])

    def build(self, middleware):
        errors = ToolErrorMiddleware(lambda error, request: str(error))
        tools = [*TOOLS, photo] if self.options.get("photo") else TOOLS
        return create_agent(self.model, tools=tools, system_prompt=INSTRUCTIONS, middleware=[errors, *middleware])

    async def ask(self, prompt):
        state = {"messages": [*self.messages, {"role": "user", "content": prompt}]}
        if not self.options["stream"]:
            self.messages = (await self.agent.ainvoke(state))["messages"]
        else:
            # With the mode `messages` the models stream; the mode `values` gives the state.
            async for mode, chunk in self.agent.astream(state, stream_mode=["values", "messages"]):
                if mode == "values":
                    self.messages = chunk["messages"]
        return self.messages[-1].text

    async def summarize(self):
        """The middleware writes the summary itself, before the next call of the model."""
        trigger = ("messages", len(self.messages) + 1)
        self.agent = self.build([SummarizationMiddleware(self.model, trigger=trigger, keep=("messages", 1))])

    async def fork(self):
        return Conversation(self.options, self.messages)
