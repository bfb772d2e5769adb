import { type FieldFate, type FieldTable, ignored, mapped, refused } from '../field-table.ts';

const AS_IS = mapped('as it is');
const TYPE = mapped('decides how the object is read');
const ID = mapped('settles which of several equal calls is continued; does not go up');
const STATUS = ignored('belongs to the reply that is echoed');
const CACHE_HINT = ignored('a hint for a provider cache; the engine caches prefixes by itself');
const CALLER = ignored('every call comes from the model itself');
const IN_ARGUMENTS = mapped('inside the arguments of the call, byte for byte');
const HOSTED = ignored('a call that the provider answered; nothing here can tell the engine about it');
const NO_FILES = refused('no files are kept here');
const PAIRED = mapped('pairs a call with its outputs, verbatim');

/** Members that share one fate. */
function all(fate: FieldFate, names: string): FieldTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, fate]));
}

const BREAKPOINT = all(CACHE_HINT, 'mode ttl');
const CALLED_DIRECTLY = { type: CALLER };
const CALLED_BY_PROGRAM = { type: CALLER, caller_id: CALLER };
const TEXT: FieldTable = { type: TYPE, text: AS_IS, prompt_cache_breakpoint: CACHE_HINT };
const IMAGE: FieldTable = {
  type: TYPE,
  image_url: mapped('`image_url.url`, byte for byte'),
  detail: mapped('`image_url.detail`, where it is given'),
  file_id: NO_FILES,
  prompt_cache_breakpoint: CACHE_HINT,
};
const FILE = all(NO_FILES, 'type detail file_data file_id file_url filename prompt_cache_breakpoint');
const MESSAGE: FieldTable = {
  type: TYPE,
  role: mapped('leading `system` and `developer` are the system message, late ones go up as `user`'),
  content: mapped('a list of one text becomes the text; the texts of an assistant are joined'),
  id: ID,
  status: STATUS,
  phase: ignored('the engine has no place for it'),
};
const CALL: FieldTable = { type: TYPE, call_id: PAIRED, id: ID, status: STATUS, caller: CALLER, async: CALLER };
const OUTPUT: FieldTable = {
  type: TYPE,
  call_id: PAIRED,
  output: mapped('a tool message; its images follow in a user message'),
  id: mapped('pairs where call_id is missing'),
  status: STATUS,
  caller: CALLER,
};
const NAMED = {
  name: mapped("the flat name of the engine's function"),
  namespace: mapped("part of the engine's flat name"),
};
const SCREEN_ACTIONS: Readonly<Record<string, string>> = {
  Click: 'button type x y keys',
  DoubleClick: 'keys type x y',
  Drag: 'path type keys',
  'Drag.Path': 'x y',
  Keypress: 'keys type',
  Move: 'type x y keys',
  Screenshot: 'type',
  Scroll: 'scroll_x scroll_y type x y keys',
  Type: 'text type',
  Wait: 'type',
};

/** Nested types of `input`, by their published names. */
export const INPUT_TYPES: Readonly<Record<string, FieldTable>> = {
  EasyInputMessage: MESSAGE,
  'ResponseInputItem.Message': MESSAGE,
  ResponseOutputMessage: MESSAGE,
  ResponseInputText: TEXT,
  ResponseInputTextContent: TEXT,
  ResponseInputImage: IMAGE,
  ResponseInputImageContent: IMAGE,
  ResponseInputFile: FILE,
  ResponseInputFileContent: FILE,
  'ResponseInputText.PromptCacheBreakpoint': BREAKPOINT,
  'ResponseInputTextContent.PromptCacheBreakpoint': BREAKPOINT,
  'ResponseInputImage.PromptCacheBreakpoint': BREAKPOINT,
  'ResponseInputImageContent.PromptCacheBreakpoint': BREAKPOINT,
  'ResponseInputFile.PromptCacheBreakpoint': all(NO_FILES, 'mode ttl'),
  'ResponseInputFileContent.PromptCacheBreakpoint': all(NO_FILES, 'mode ttl'),
  ResponseOutputText: { type: TYPE, text: AS_IS, annotations: STATUS, logprobs: STATUS },
  'ResponseOutputText.FileCitation': all(STATUS, 'file_id filename index type'),
  'ResponseOutputText.URLCitation': all(STATUS, 'end_index start_index title type url'),
  'ResponseOutputText.ContainerFileCitation': all(STATUS, 'container_id end_index file_id filename start_index type'),
  'ResponseOutputText.FilePath': all(STATUS, 'file_id index type'),
  'ResponseOutputText.Logprob': all(STATUS, 'token bytes logprob top_logprobs'),
  'ResponseOutputText.Logprob.TopLogprob': all(STATUS, 'token bytes logprob'),
  ResponseOutputRefusal: { type: TYPE, refusal: mapped('the `refusal` of the message') },

  ResponseReasoningItem: {
    type: TYPE,
    content: mapped('the reasoning of the turn'),
    summary: mapped('the reasoning of the turn, where content says nothing'),
    encrypted_content: mapped('the reasoning of the turn, where nothing else says it and this proxy sealed it'),
    id: ID,
    status: STATUS,
  },
  'ResponseReasoningItem.Content': { type: TYPE, text: AS_IS },
  'ResponseReasoningItem.Summary': { type: TYPE, text: AS_IS },

  ResponseFunctionToolCall: { ...CALL, ...NAMED, arguments: mapped('verbatim; what is no JSON object goes up as {}') },
  'ResponseFunctionToolCall.Direct': CALLED_DIRECTLY,
  'ResponseFunctionToolCall.Program': CALLED_BY_PROGRAM,
  'ResponseInputItem.FunctionCallOutput': { ...OUTPUT, ...all(ignored('the call has it'), 'name namespace') },
  'ResponseInputItem.FunctionCallOutput.Direct': CALLED_DIRECTLY,
  'ResponseInputItem.FunctionCallOutput.Program': CALLED_BY_PROGRAM,
  ResponseCustomToolCall: { ...CALL, ...NAMED, input: mapped('the argument `input`') },
  'ResponseCustomToolCall.Direct': CALLED_DIRECTLY,
  'ResponseCustomToolCall.Program': CALLED_BY_PROGRAM,
  ResponseCustomToolCallOutput: OUTPUT,
  'ResponseCustomToolCallOutput.Direct': CALLED_DIRECTLY,
  'ResponseCustomToolCallOutput.Program': CALLED_BY_PROGRAM,
  'ResponseInputItem.ToolSearchCall': {
    ...CALL,
    arguments: mapped('arguments of a call of `tool_search`'),
    execution: ignored('a search without call_id was run by the provider; it is left out'),
  },
  ResponseToolSearchOutputItemParam: {
    ...OUTPUT,
    output: mapped('a tool message, where there are no tools'),
    tools: mapped('a tool message, and further tools of the request'),
    execution: ignored('a search without call_id was run by the provider; it is left out'),
  },
  'ResponseInputItem.AdditionalTools': {
    type: TYPE,
    role: ignored('the tools count wherever they stand'),
    tools: mapped('further tools of the request'),
    id: ignored('the item is no part of a turn'),
  },
  'ResponseInputItem.LocalShellCall': { ...CALL, action: mapped('arguments of a call of `local_shell`') },
  'ResponseInputItem.LocalShellCall.Action': all(IN_ARGUMENTS, 'command env type timeout_ms user working_directory'),
  'ResponseInputItem.LocalShellCallOutput': OUTPUT,
  'ResponseInputItem.ShellCall': {
    ...CALL,
    action: mapped('arguments of a call of `shell`'),
    environment: ignored('the client decides where a command runs'),
  },
  'ResponseInputItem.ShellCall.Action': all(IN_ARGUMENTS, 'commands max_output_length timeout_ms'),
  'ResponseInputItem.ShellCall.Direct': CALLED_DIRECTLY,
  'ResponseInputItem.ShellCall.Program': CALLED_BY_PROGRAM,
  'ResponseInputItem.ShellCallOutput': { ...OUTPUT, max_output_length: ignored('a note of the model to the client') },
  'ResponseInputItem.ShellCallOutput.Direct': CALLED_DIRECTLY,
  'ResponseInputItem.ShellCallOutput.Program': CALLED_BY_PROGRAM,
  ResponseFunctionShellCallOutputContent: all(
    mapped('inside the tool message, byte for byte'),
    'outcome stderr stdout',
  ),
  'ResponseFunctionShellCallOutputContent.Timeout': { type: mapped('inside the tool message, byte for byte') },
  'ResponseFunctionShellCallOutputContent.Exit': all(
    mapped('inside the tool message, byte for byte'),
    'exit_code type',
  ),
  'ResponseInputItem.ApplyPatchCall': { ...CALL, operation: mapped('arguments of a call of `apply_patch`') },
  'ResponseInputItem.ApplyPatchCall.CreateFile': all(IN_ARGUMENTS, 'diff path type'),
  'ResponseInputItem.ApplyPatchCall.DeleteFile': all(IN_ARGUMENTS, 'path type'),
  'ResponseInputItem.ApplyPatchCall.UpdateFile': all(IN_ARGUMENTS, 'diff path type'),
  'ResponseInputItem.ApplyPatchCall.Direct': CALLED_DIRECTLY,
  'ResponseInputItem.ApplyPatchCall.Program': CALLED_BY_PROGRAM,
  'ResponseInputItem.ApplyPatchCallOutput': { ...OUTPUT, status: mapped('the tool message, where there is no output') },
  'ResponseInputItem.ApplyPatchCallOutput.Direct': CALLED_DIRECTLY,
  'ResponseInputItem.ApplyPatchCallOutput.Program': CALLED_BY_PROGRAM,
  ResponseComputerToolCall: {
    ...CALL,
    action: mapped('arguments of a call of `computer`'),
    actions: mapped('arguments of a call of `computer`, as the member `actions`'),
    pending_safety_checks: ignored('a check of the provider'),
  },
  'ResponseComputerToolCall.PendingSafetyCheck': all(ignored('a check of the provider'), 'id code message'),
  ...screenActions('ResponseComputerToolCall'),
  ...screenActions('ComputerAction'),
  'ResponseInputItem.ComputerCallOutput': { ...OUTPUT, acknowledged_safety_checks: ignored('a check of the provider') },
  'ResponseInputItem.ComputerCallOutput.AcknowledgedSafetyCheck': all(
    ignored('a check of the provider'),
    'id code message',
  ),
  ResponseComputerToolCallOutputScreenshot: { type: TYPE, image_url: IMAGE.image_url as FieldFate, file_id: NO_FILES },

  ResponseFileSearchToolCall: all(HOSTED, 'id queries status type results'),
  'ResponseFileSearchToolCall.Result': all(HOSTED, 'attributes file_id filename score text'),
  ResponseFunctionWebSearch: all(HOSTED, 'id action status type'),
  'ResponseFunctionWebSearch.Search': all(HOSTED, 'type queries query sources'),
  'ResponseFunctionWebSearch.Search.Source': all(HOSTED, 'type url'),
  'ResponseFunctionWebSearch.OpenPage': all(HOSTED, 'type url'),
  'ResponseFunctionWebSearch.Find': all(HOSTED, 'pattern type url'),
  'ResponseInputItem.ImageGenerationCall': all(
    HOSTED,
    'id result status type action background error output_format quality revised_prompt size svg_usage',
  ),
  'ResponseInputItem.ImageGenerationCall.Error': all(HOSTED, 'code message param type moderation_details'),
  'ResponseInputItem.ImageGenerationCall.Error.ModerationDetails': all(HOSTED, 'categories moderation_stage'),
  'ResponseInputItem.ImageGenerationCall.SvgUsage': all(
    HOSTED,
    'input_tokens model output_tokens reasoning_tokens total_tokens',
  ),
  ResponseCodeInterpreterToolCall: all(HOSTED, 'id code container_id outputs status type'),
  'ResponseCodeInterpreterToolCall.Logs': all(HOSTED, 'logs type'),
  'ResponseCodeInterpreterToolCall.Image': all(HOSTED, 'type url'),
  'ResponseInputItem.McpListTools': all(HOSTED, 'id server_label tools type error'),
  'ResponseInputItem.McpListTools.Tool': all(HOSTED, 'input_schema name annotations description'),
  'ResponseInputItem.McpApprovalRequest': all(HOSTED, 'id arguments name server_label type'),
  'ResponseInputItem.McpApprovalResponse': all(HOSTED, 'approval_request_id approve type id reason'),
  'ResponseInputItem.McpCall': all(
    HOSTED,
    'id arguments name server_label type approval_request_id error output status',
  ),
  'McpToolCallError.McpProtocolError': all(HOSTED, 'code message type'),
  'McpToolCallError.McpToolExecutionError': all(HOSTED, 'content type'),
  'McpToolCallError.HTTPError': all(HOSTED, 'code message type'),
  'ResponseInputItem.Program': all(HOSTED, 'id call_id code fingerprint type'),
  'ResponseInputItem.ProgramOutput': all(HOSTED, 'id call_id result status type'),

  ResponseConfigurationUpdateItemParam: {
    type: TYPE,
    reasoning: mapped('takes the place of `reasoning.effort` of the request'),
    text: mapped('takes the place of `text.format` of the request'),
    id: ignored('the item is no part of a turn'),
  },
  'ResponseConfigurationUpdateItemParam.Reasoning': { effort: mapped('`reasoning_effort`') },
  'ResponseConfigurationUpdateItemParam.Text': { format: mapped('`response_format`') },
  ResponseCompactionItemParam: {
    type: TYPE,
    encrypted_content: mapped('a user message if this proxy sealed it, else refused'),
    id: ignored('the item is no part of a turn'),
  },
  'ResponseInputItem.CompactionTrigger': all(refused('name the provider differently to compact locally'), 'type id'),
  'ResponseInputItem.ItemReference': all(refused('no items are stored here; send full items'), 'id type'),
};

function screenActions(owner: string): Readonly<Record<string, FieldTable>> {
  return Object.fromEntries(
    Object.entries(SCREEN_ACTIONS).map(([name, members]) => [`${owner}.${name}`, all(IN_ARGUMENTS, members)]),
  );
}
