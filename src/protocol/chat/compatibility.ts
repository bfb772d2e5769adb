import { type DialectFields, type FieldTable, ignored, mapped, refused } from '../field-table.ts';
import { SHARED_FIELDS } from '../sampling-fields.ts';

const AS_IS = mapped('as it is');
const LIMIT = mapped('as it is; below 1 it is refused');
const UNCAPTURED = 'under capture; goes up otherwise';
const LEGACY = 'the legacy form; use tools';
const NO_FILES = refused('no files are kept here');
const NO_AUDIO = refused('audio answers are not supported');
const CACHE_HINT = ignored('a hint for a provider cache; the engine caches prefixes by itself');

const SPOKEN: FieldTable = {
  role: mapped('`developer` becomes `system`, in its place'),
  content: mapped('a list of one text becomes the text'),
  name: AS_IS,
};
const CACHE_BREAKPOINT: FieldTable = { mode: CACHE_HINT, ttl: CACHE_HINT };
const TYPE = mapped('decides how the object is read');

const request: FieldTable = {
  ...SHARED_FIELDS,
  messages: mapped('message by message; what the conversion does not change goes up byte for byte'),
  model: mapped('configuration may override or alias it'),
  stream: mapped('decides the form of the reply; a captured call upstream never streams'),
  stream_options: mapped('see ChatCompletionStreamOptions'),
  temperature: AS_IS,
  top_p: AS_IS,
  frequency_penalty: AS_IS,
  presence_penalty: AS_IS,
  seed: AS_IS,
  stop: AS_IS,
  logit_bias: AS_IS,
  max_tokens: LIMIT,
  max_completion_tokens: LIMIT,
  parallel_tool_calls: AS_IS,
  reasoning_effort: AS_IS,
  response_format: AS_IS,
  tools: mapped('functions byte for byte; a custom tool becomes a function with one string parameter `input`'),
  tool_choice: mapped('`allowed_tools` narrows the tools; a free choice without tools does not go up'),
  n: refused(`other than 1 ${UNCAPTURED}`),
  logprobs: refused(`\`true\` ${UNCAPTURED}`),
  top_logprobs: refused(`above 0 ${UNCAPTURED}`),
  include: refused('`message.output_text.logprobs` under capture; a field of the Responses dialect'),
  functions: refused(LEGACY),
  function_call: refused(`${LEGACY} and tool_choice; \`none\` and \`auto\` are no use of it`),
  audio: NO_AUDIO,
  modalities: refused('other than `["text"]`'),
  moderation: refused('nothing here moderates'),
  web_search_options: refused('no engine here searches the web; declare a tool'),
  metadata: ignored('labels for a provider dashboard'),
  store: ignored('nothing is stored'),
  user: ignored('names an end user to a provider'),
  safety_identifier: ignored('names an end user to a provider'),
  service_tier: ignored('there is one tier'),
  prediction: ignored('speeds up a provider; does not change the answer'),
  verbosity: ignored('no engine here knows it'),
  prompt_cache_key: CACHE_HINT,
  prompt_cache_options: CACHE_HINT,
  prompt_cache_retention: CACHE_HINT,
  instructions: ignored('a field of the Responses dialect'),
  reasoning: ignored('a field of the Responses dialect; use reasoning_effort or chat_template_kwargs'),
  thinking: ignored('a switch of other vendors; use chat_template_kwargs'),
  enable_thinking: ignored('a switch of other vendors; use chat_template_kwargs'),
  extra_body: ignored('a setting of client libraries that some send by mistake'),
};

const nested: Readonly<Record<string, FieldTable>> = {
  ChatCompletionSystemMessageParam: SPOKEN,
  ChatCompletionDeveloperMessageParam: SPOKEN,
  ChatCompletionUserMessageParam: SPOKEN,
  ChatCompletionAssistantMessageParam: {
    role: AS_IS,
    content: mapped('several texts become one; null, absent and [] beside calls go up as null'),
    name: ignored('frameworks stick it on turns; it is no evidence, so no prompt may hold it'),
    refusal: AS_IS,
    tool_calls: mapped('null and [] do not go up'),
    reasoning: mapped('under the name that the engine reads'),
    reasoning_content: mapped('the same field under another name'),
    thinking_blocks: mapped('read where neither name of the reasoning is used'),
    audio: refused('earlier audio answers are not kept here'),
    function_call: refused(LEGACY),
    id: mapped('settles which of several equal calls is continued; does not go up'),
    annotations: ignored('belong to a reply'),
    provider_specific_fields: ignored('written by a client library'),
    cache_control: CACHE_HINT,
  },
  ChatCompletionToolMessageParam: {
    role: AS_IS,
    content: mapped('an image follows in a user message after the run of tool messages'),
    tool_call_id: AS_IS,
    name: ignored('half of the clients add it; the call has the name'),
    cache_control: CACHE_HINT,
  },
  ChatCompletionFunctionMessageParam: {
    role: refused('the legacy role `function`; use `tool`'),
    content: refused('with the role'),
    name: refused('with the role'),
  },
  'ChatCompletionAssistantMessageParam.Audio': { id: NO_AUDIO },
  'ChatCompletionAssistantMessageParam.FunctionCall': { name: refused(LEGACY), arguments: refused(LEGACY) },
  ChatCompletionMessageFunctionToolCall: { id: AS_IS, type: TYPE, function: AS_IS },
  'ChatCompletionMessageFunctionToolCall.Function': {
    name: AS_IS,
    arguments: mapped('what is no JSON object goes up as {}; the evidence keeps the text'),
  },
  ChatCompletionMessageCustomToolCall: {
    id: AS_IS,
    type: TYPE,
    custom: mapped('as the function call that it was made from'),
  },
  'ChatCompletionMessageCustomToolCall.Custom': { name: AS_IS, input: mapped('the argument `input`') },
  ChatCompletionContentPartText: { type: TYPE, text: AS_IS, prompt_cache_breakpoint: CACHE_HINT },
  'ChatCompletionContentPartText.PromptCacheBreakpoint': CACHE_BREAKPOINT,
  ChatCompletionContentPartRefusal: { type: TYPE, refusal: mapped('the `refusal` of the message') },
  ChatCompletionContentPartImage: { type: TYPE, image_url: AS_IS, prompt_cache_breakpoint: CACHE_HINT },
  'ChatCompletionContentPartImage.ImageURL': { url: AS_IS, detail: mapped('only where it is given') },
  'ChatCompletionContentPartImage.PromptCacheBreakpoint': CACHE_BREAKPOINT,
  ChatCompletionContentPartInputAudio: { type: TYPE, input_audio: AS_IS, prompt_cache_breakpoint: CACHE_HINT },
  'ChatCompletionContentPartInputAudio.InputAudio': { data: AS_IS, format: AS_IS },
  'ChatCompletionContentPartInputAudio.PromptCacheBreakpoint': CACHE_BREAKPOINT,
  'ChatCompletionContentPart.File': { type: NO_FILES, file: NO_FILES, prompt_cache_breakpoint: NO_FILES },
  'ChatCompletionContentPart.File.File': { file_data: NO_FILES, file_id: NO_FILES, filename: NO_FILES },
  'ChatCompletionContentPart.File.PromptCacheBreakpoint': { mode: NO_FILES, ttl: NO_FILES },
  ChatCompletionAudioParam: { format: NO_AUDIO, voice: NO_AUDIO },
  'ChatCompletionAudioParam.ID': { id: NO_AUDIO },
  ChatCompletionFunctionCallOption: { name: refused(LEGACY) },
  'ChatCompletionCreateParams.Function': {
    name: refused(LEGACY),
    description: refused(LEGACY),
    parameters: refused(LEGACY),
  },
  ChatCompletionFunctionTool: { type: TYPE, function: AS_IS, cache_control: CACHE_HINT },
  FunctionDefinition: { name: AS_IS, description: AS_IS, parameters: AS_IS, strict: AS_IS },
  ChatCompletionCustomTool: { type: TYPE, custom: mapped('as a function') },
  'ChatCompletionCustomTool.Custom': {
    name: AS_IS,
    description: AS_IS,
    format: mapped('a grammar is told to the model in the description'),
  },
  'ChatCompletionCustomTool.Custom.Text': { type: TYPE },
  'ChatCompletionCustomTool.Custom.Grammar': { type: TYPE, grammar: mapped('told to the model in the description') },
  'ChatCompletionCustomTool.Custom.Grammar.Grammar': {
    definition: mapped('told to the model in the description'),
    syntax: mapped('told to the model in the description'),
  },
  ChatCompletionNamedToolChoice: { type: TYPE, function: AS_IS },
  'ChatCompletionNamedToolChoice.Function': { name: AS_IS },
  ChatCompletionNamedToolChoiceCustom: { type: TYPE, custom: mapped('as the function') },
  'ChatCompletionNamedToolChoiceCustom.Custom': { name: AS_IS },
  ChatCompletionAllowedToolChoice: { type: TYPE, allowed_tools: mapped('narrows the tools') },
  ChatCompletionAllowedTools: { mode: mapped('the tool choice'), tools: mapped('the tools that stay') },
  ChatCompletionStreamOptions: {
    include_usage: mapped('a usage chunk at the end of the stream'),
    include_obfuscation: ignored('streams are not obfuscated'),
  },
  ResponseFormatText: { type: AS_IS },
  ResponseFormatJSONObject: { type: AS_IS },
  ResponseFormatJSONSchema: { type: AS_IS, json_schema: AS_IS },
  'ResponseFormatJSONSchema.JSONSchema': { name: AS_IS, description: AS_IS, schema: AS_IS, strict: AS_IS },
  ChatCompletionPredictionContent: { type: ignored('with prediction'), content: ignored('with prediction') },
  'ChatCompletionCreateParams.PromptCacheOptions': CACHE_BREAKPOINT,
  'ChatCompletionCreateParams.Moderation': { model: refused('with moderation'), policy: refused('with moderation') },
  'ChatCompletionCreateParams.Moderation.Policy': {
    input: refused('with moderation'),
    output: refused('with moderation'),
  },
  'ChatCompletionCreateParams.Moderation.Policy.Input': { mode: refused('with moderation') },
  'ChatCompletionCreateParams.Moderation.Policy.Output': { mode: refused('with moderation') },
  'ChatCompletionCreateParams.WebSearchOptions': {
    search_context_size: refused('with web_search_options'),
    user_location: refused('with web_search_options'),
  },
  'ChatCompletionCreateParams.WebSearchOptions.UserLocation': {
    type: refused('with web_search_options'),
    approximate: refused('with web_search_options'),
  },
  'ChatCompletionCreateParams.WebSearchOptions.UserLocation.Approximate': {
    city: refused('with web_search_options'),
    country: refused('with web_search_options'),
    region: refused('with web_search_options'),
    timezone: refused('with web_search_options'),
  },
};

/** What becomes of every field of a Chat Completions request. */
export const CHAT_FIELDS: DialectFields = { request, nested };
