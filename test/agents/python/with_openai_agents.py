"""OpenAI Agents SDK for Python: the models for Responses and Chat, plain and streamed, history in its SQLite session."""

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    ToolOutputImage,
    function_tool,
    set_tracing_disabled,
)
from agents.run_config import ModelInputData
from openai import AsyncOpenAI

from tools import INSTRUCTIONS, PHOTO_DATA, PHOTO_TYPE, SUMMARIZE_NOW, SUMMARIZER, TOOLS, summary_message

set_tracing_disabled(True)


def clear_outputs(data):
    """A filter of the model's input: all tool outputs but the newest lose their text."""
    outputs = [item for item in data.model_data.input if item.get("type") == "function_call_output"]
    cleared = [
        {**item, "output": "[cleared]"} if item in outputs[:-1] else item for item in data.model_data.input
    ]
    return ModelInputData(input=cleared, instructions=data.model_data.instructions)


@function_tool
def photo() -> ToolOutputImage:
    """Takes a photo."""
    return ToolOutputImage(image_url=f"data:{PHOTO_TYPE};base64,{PHOTO_DATA}")


class Conversation:
    def __init__(self, options):
        self.options = options
        retries = {"max_retries": options["max_retries"]} if "max_retries" in options else {}
        client = AsyncOpenAI(base_url=f"{options['base']}/v1", api_key="none", **retries)
        kind = OpenAIResponsesModel if options["dialect"] == "responses" else OpenAIChatCompletionsModel
        self.model = kind(model="policy", openai_client=client)
        tools = [function_tool(one) for one in TOOLS]
        self.agent = Agent(
            name="Task",
            instructions=INSTRUCTIONS,
            model=self.model,
            tools=[*tools, photo] if options.get("photo") else tools,
            model_settings=ModelSettings(tool_choice="required" if options.get("must_call") else None),
        )
        self.config = RunConfig(call_model_input_filter=clear_outputs if options.get("edits") else None)
        self.session = SQLiteSession("session")  # in memory, its own

    async def ask(self, prompt):
        run = {"session": self.session, "run_config": self.config}
        if not self.options["stream"]:
            return (await Runner.run(self.agent, prompt, **run)).final_output
        result = Runner.run_streamed(self.agent, prompt, **run)
        async for _ in result.stream_events():
            pass
        return result.final_output

    async def summarize(self):
        """The items of the session are replaced by the summary that an agent without tools makes of them."""
        items = await self.session.get_items()
        writer = Agent(name="Summary", instructions=SUMMARIZER, model=self.model)
        result = await Runner.run(writer, [*items, {"role": "user", "content": SUMMARIZE_NOW}])
        await self.session.clear_session()
        await self.session.add_items([{"role": "user", "content": summary_message(result.final_output)}])

    async def fork(self):
        other = Conversation(self.options)
        await other.session.add_items(await self.session.get_items())
        return other
