import { type FieldFate, type FieldTable, ignored, mapped, refused } from '../field-table.ts';

const CACHE = { cache_control: ignored('the engine caches prefixes by itself') };
const OF_THE_PROVIDER = ignored("the provider's own bookkeeping; no engine knows it");
const TYPE = { type: mapped('says what the object is') };

/** A type that has one fate as a whole, whatever it holds. */
function whole(fate: FieldFate): FieldTable {
  return { '*': fate };
}

const NO_ENGINE = whole(refused('400 that names the block: nothing here can tell the engine about it'));
const LEFT_OUT = whole(ignored('a tool that the provider runs is left out of the tools; the log names it'));
const UNKNOWN_SCHEMA = whole(
  refused("400 that names the tool: only the provider's own models know its schema; declare a custom tool instead"),
);

/**
 * Nested objects of a Messages request by the name of their published type (those of the beta types without `Beta`); a name with `*` speaks of
 * every type that fits and is not named itself, the field `*` of all fields.
 */
export const MESSAGES_TYPES: Readonly<Record<string, FieldTable>> = {
  UserMessageParam: {
    role: mapped('`user`'),
    content: mapped('a user message; its tool results become tool messages before it'),
  },
  AssistantMessageParam: { role: mapped('`assistant`'), content: mapped('one assistant message') },
  SystemMessageParam: {
    role: mapped('joins the system message if it leads, else it is a `user` message in its place'),
    content: mapped('a string or text blocks'),
    clear_at: ignored('the message stays in its place, like every other one'),
    output_config: ignored('effort is set for the whole request'),
  },
  SystemMessageOutputConfig: whole(ignored('effort is set for the whole request')),
  TextBlockParam: {
    ...TYPE,
    ...CACHE,
    text: mapped('text; those of an assistant turn are concatenated, those of others stay a list'),
    citations: ignored('they point into documents that the engine has as text'),
  },
  ImageBlockParam: {
    ...TYPE,
    ...CACHE,
    source: mapped('`image_url`'),
    transformations: ignored('the engine scales images by itself'),
  },
  Base64ImageSource: { ...TYPE, data: mapped('a data URL, byte for byte'), media_type: mapped('of the data URL') },
  URLImageSource: { ...TYPE, url: mapped('verbatim') },
  FileImageSource: whole(refused('400: no files are kept here')),
  ImageTransformationsParam: whole(ignored('the engine scales images by itself')),
  RequestDocumentBlock: {
    ...TYPE,
    ...CACHE,
    source: mapped('text, and blocks of text and images'),
    title: mapped('a text before the document'),
    context: mapped('a text before the document'),
    citations: ignored('engines cite nothing'),
  },
  PlainTextSource: { ...TYPE, data: mapped('a text'), media_type: ignored('it is always plain text') },
  ContentBlockSource: { ...TYPE, content: mapped('texts and images') },
  Base64PDFSource: whole(refused('400: engines read no PDF; send text or pages as images')),
  URLPDFSource: whole(refused('400: engines read no PDF; send text or pages as images')),
  FileDocumentSource: whole(refused('400: no files are kept here')),
  SearchResultBlockParam: {
    ...TYPE,
    ...CACHE,
    content: mapped('texts'),
    title: mapped('a text before them'),
    source: mapped('a text before them'),
    citations: ignored('engines cite nothing'),
  },
  'Citation*': whole(ignored('engines cite nothing')),
  ThinkingBlockParam: {
    ...TYPE,
    thinking: mapped('reasoning; several blocks of a turn are joined with a line break'),
    signature: mapped('stands in for an empty `thinking` if this proxy made it, else left out'),
  },
  RedactedThinkingBlockParam: { ...TYPE, data: mapped('reasoning if this proxy made it, else left out') },
  ToolUseBlockParam: {
    ...TYPE,
    ...CACHE,
    id: mapped('verbatim'),
    name: mapped('verbatim'),
    input: mapped('the arguments, as source text; `{"_raw": text}` is that text'),
    caller: OF_THE_PROVIDER,
    toolset_name: OF_THE_PROVIDER,
  },
  ToolResultBlockParam: {
    ...TYPE,
    ...CACHE,
    tool_use_id: mapped('`tool_call_id`'),
    content: mapped('a tool message, before the texts of the same message; its images follow in a user message'),
    is_error: mapped('`true` is a text `[tool error]` before the others; `false` is absent'),
    toolset_name: OF_THE_PROVIDER,
  },
  ToolReferenceBlockParam: { ...TYPE, ...CACHE, tool_name: mapped('a text that names the tool') },
  Tool: {
    type: mapped('`custom` or absent'),
    ...CACHE,
    name: mapped('verbatim'),
    description: mapped('verbatim'),
    input_schema: mapped('`parameters`, byte for byte'),
    strict: mapped('as it is'),
    allowed_callers: ignored('every call comes from the model itself'),
    defer_loading: ignored('every declared tool is sent up'),
    eager_input_streaming: ignored('replies are rendered from the finished answer'),
    input_examples: ignored('engines have no place for them'),
  },
  'Tool.InputSchema': whole(mapped('byte for byte')),
  ToolChoiceAuto: { type: mapped('`auto`'), disable_parallel_tool_use: mapped('`parallel_tool_calls`') },
  ToolChoiceAny: {
    type: mapped('`required`; refused without a tool that the agent runs'),
    disable_parallel_tool_use: mapped('`parallel_tool_calls`'),
  },
  ToolChoiceTool: {
    type: mapped('a named function'),
    name: mapped('verbatim; it must be among the tools'),
    disable_parallel_tool_use: mapped('`parallel_tool_calls`'),
  },
  ToolChoiceNone: { type: mapped('`none`') },
  OutputConfig: {
    effort: mapped('`reasoning_effort`'),
    format: mapped('`response_format`'),
    task_budget: ignored('engines have no place for it'),
  },
  JSONOutputFormat: { ...TYPE, schema: mapped('a strict `json_schema`, byte for byte') },
  TokenTaskBudget: whole(ignored('engines have no place for it')),

  'ServerToolUse*': NO_ENGINE,
  'WebSearchToolRe*': NO_ENGINE,
  WebSearchResultBlockParam: NO_ENGINE,
  'WebFetchToolRe*': NO_ENGINE,
  WebFetchBlockParam: NO_ENGINE,
  'AdvisorToolResult*': NO_ENGINE,
  'AdvisorRe*': NO_ENGINE,
  'CodeExecution*BlockParam': NO_ENGINE,
  CodeExecutionToolResultErrorParam: NO_ENGINE,
  'EncryptedCodeExecution*': NO_ENGINE,
  'BashCodeExecution*': NO_ENGINE,
  'TextEditorCodeExecution*': NO_ENGINE,
  'ToolSearchToolResult*': NO_ENGINE,
  ToolSearchToolSearchResultBlockParam: NO_ENGINE,
  'MCPToolUse*': NO_ENGINE,
  'RequestMCPToolResult*': NO_ENGINE,
  'MCPToolListing*': NO_ENGINE,
  MCPToolParam: NO_ENGINE,
  'ContainerUpload*': NO_ENGINE,
  CompactionBlockParam: NO_ENGINE,
  'Fallback*BlockParam': NO_ENGINE,
  FallbackInfoParam: NO_ENGINE,
  'BrowserState*': NO_ENGINE,
  'RequestToolAddition*': whole(refused('400: declare every tool in `tools`')),
  'RequestToolRemoval*': whole(refused('400: declare every tool in `tools`')),
  'ToolChange*': whole(refused('400: declare every tool in `tools`')),

  'WebSearchTool2*': LEFT_OUT,
  'WebFetchTool2*': LEFT_OUT,
  'WebFetchURLSource*': LEFT_OUT,
  UserLocation: LEFT_OUT,
  'CodeExecutionTool2*': LEFT_OUT,
  'AdvisorTool2*': LEFT_OUT,
  'ToolSearchToolBm25*': LEFT_OUT,
  'ToolSearchToolRegex*': LEFT_OUT,
  'ToolBash*': UNKNOWN_SCHEMA,
  'ToolTextEditor*': UNKNOWN_SCHEMA,
  'ToolComputerUse*': UNKNOWN_SCHEMA,
  'MemoryTool*': UNKNOWN_SCHEMA,
  'Browser*': UNKNOWN_SCHEMA,
  'Computer*': UNKNOWN_SCHEMA,
  'MCPTool*': whole(refused('with `mcp_servers`: the model is not connected to MCP servers here')),

  CacheControlEphemeral: whole(CACHE.cache_control),
  DirectCaller: whole(OF_THE_PROVIDER),
  'ServerToolCaller*': whole(OF_THE_PROVIDER),
  BillingPolicy: whole(OF_THE_PROVIDER),
  DiagnosticsParam: whole(OF_THE_PROVIDER),
  Metadata: whole(OF_THE_PROVIDER),
  FallbackParam: whole(OF_THE_PROVIDER),
  FallbackCreditTokenParam: whole(OF_THE_PROVIDER),
  CompactionConfig: whole(refused('with `compaction`')),
  ContainerParams: whole(refused('with `container`')),
  SkillParams: whole(refused('with `container`')),
  'RequestMCPServer*': whole(refused('with `mcp_servers`')),
  'Thread*': whole(refused('with `thread`')),
  ContextManagementConfig: whole(ignored('nothing is cleared from the history')),
  'Clear*Edit': whole(ignored('nothing is cleared from the history')),
  Compact20260112Edit: whole(ignored('nothing is cleared from the history')),
  'InputTokens*': whole(ignored('nothing is cleared from the history')),
  'ToolUses*': whole(ignored('nothing is cleared from the history')),
  ThinkingTurns: whole(ignored('nothing is cleared from the history')),
  AllThinkingTurns: whole(ignored('nothing is cleared from the history')),
  'ThinkingConfig*': whole(ignored('reasoning is set by the template: `chat_template_kwargs`, `output_config.effort`')),
  ThinkingBlockBinding: whole(ignored('reasoning is compared, never dropped')),
};
