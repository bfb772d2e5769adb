import { type FieldFate, type FieldTable, ignored, mapped, refused } from '../field-table.ts';

const AS_IS = mapped('as it is');
const TYPE = mapped('decides how the object is read');
const HOSTED = ignored('a tool that the provider runs; it is left out');
const CALLERS = ignored('every call comes from the model itself');
const DEFERRED = ignored('every declared tool is sent up');
const CACHE_HINT = ignored('a hint for a provider cache; the engine caches prefixes by itself');
const CHOICE = mapped('the tool choice');
const FREE_CHOICE = mapped('a hosted tool leaves the choice free');

function all(fate: FieldFate, names: string): FieldTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, fate]));
}

const FUNCTION: FieldTable = {
  type: TYPE,
  name: AS_IS,
  description: AS_IS,
  parameters: mapped('byte for byte'),
  strict: AS_IS,
  allowed_callers: CALLERS,
  async: CALLERS,
  defer_loading: DEFERRED,
  output_schema: ignored('engines have no place for it'),
};
const NAMESPACED: FieldTable = { ...FUNCTION, name: mapped('`namespace__name`, of 64 characters at most') };
const NAMESPACE: FieldTable = {
  type: TYPE,
  name: mapped('part of the flat names of its tools; `functions` is no part'),
  tools: mapped('one function each'),
  description: ignored('engines have no place for it'),
};

/** Hosted tools that stand in two places of the published types. */
const PROVIDERS: Readonly<Record<string, string>> = {
  Mcp: 'server_label type allowed_callers allowed_tools authorization connector_id defer_loading headers require_approval server_description server_url tunnel_id',
  'Mcp.McpToolFilter': 'read_only tool_names',
  'Mcp.McpToolApprovalFilter': 'always never',
  'Mcp.McpToolApprovalFilter.Always': 'read_only tool_names',
  'Mcp.McpToolApprovalFilter.Never': 'read_only tool_names',
  CodeInterpreter: 'container type allowed_callers',
  'CodeInterpreter.CodeInterpreterToolAuto': 'type file_ids memory_limit network_policy',
  ProgrammaticToolCalling: 'type',
  ImageGeneration:
    'type action background complexity frame_count frame_duration_ms input_fidelity input_image_mask model moderation output_compression output_format partial_images quality size svg',
  'ImageGeneration.InputImageMask': 'file_id image_url',
  'ImageGeneration.Svg': 'model reasoning',
  'ImageGeneration.Svg.Reasoning': 'effort',
  LocalShell: 'type',
};

/** Nested types of `tools`, `tool_choice` and the settings, by their published names. */
export const TOOL_TYPES: Readonly<Record<string, FieldTable>> = {
  FunctionTool: FUNCTION,
  'NamespaceTool.Function': NAMESPACED,
  'ToolSearchOutputNamespaceTool.Function': NAMESPACED,
  NamespaceTool: NAMESPACE,
  ToolSearchOutputNamespaceTool: NAMESPACE,
  CustomTool: {
    type: TYPE,
    name: AS_IS,
    description: AS_IS,
    format: mapped('a grammar is told to the model in the description'),
    allowed_callers: CALLERS,
    async: CALLERS,
    defer_loading: DEFERRED,
  },
  'CustomToolInputFormat.Text': { type: TYPE },
  'CustomToolInputFormat.Grammar': {
    type: TYPE,
    ...all(mapped('told to the model in the description'), 'definition syntax'),
  },
  ToolSearchTool: {
    type: TYPE,
    execution: mapped('`client`: a function `tool_search`; else the tool is left out'),
    description: AS_IS,
    parameters: mapped('byte for byte'),
  },

  FileSearchTool: all(HOSTED, 'type vector_store_ids filters max_num_results ranking_options'),
  'FileSearchTool.RankingOptions': all(HOSTED, 'hybrid_search ranker score_threshold'),
  'FileSearchTool.RankingOptions.HybridSearch': all(HOSTED, 'embedding_weight text_weight'),
  ComparisonFilter: all(HOSTED, 'key type value'),
  CompoundFilter: all(HOSTED, 'filters type'),
  ComputerTool: all(HOSTED, 'type'),
  ComputerUsePreviewTool: all(HOSTED, 'display_height display_width environment type'),
  WebSearchTool: all(HOSTED, 'type external_web_access filters search_context_size user_location'),
  'WebSearchTool.Filters': all(HOSTED, 'allowed_domains'),
  'WebSearchTool.UserLocation': all(HOSTED, 'city country region timezone type'),
  WebSearchPreviewTool: all(HOSTED, 'type search_content_types search_context_size user_location'),
  'WebSearchPreviewTool.UserLocation': all(HOSTED, 'type city country region timezone'),
  FunctionShellTool: all(HOSTED, 'type allowed_callers environment'),
  ApplyPatchTool: all(HOSTED, 'type allowed_callers'),
  ContainerAuto: all(HOSTED, 'type file_ids memory_limit network_policy skills'),
  ContainerReference: all(HOSTED, 'container_id type'),
  ContainerNetworkPolicyDisabled: all(HOSTED, 'type'),
  ContainerNetworkPolicyAllowlist: all(HOSTED, 'allowed_domains type domain_secrets'),
  ContainerNetworkPolicyDomainSecret: all(HOSTED, 'domain name value'),
  LocalEnvironment: all(HOSTED, 'type skills'),
  LocalSkill: all(HOSTED, 'description name path'),
  SkillReference: all(HOSTED, 'skill_id type version'),
  InlineSkill: all(HOSTED, 'description name source type'),
  InlineSkillSource: all(HOSTED, 'data media_type type'),
  ...providers('Tool'),
  ...providers('ResponseToolSearchOutputItemParam'),

  ToolChoiceFunction: { type: TYPE, name: CHOICE },
  ToolChoiceCustom: { type: TYPE, name: CHOICE },
  ToolChoiceAllowed: { type: TYPE, mode: CHOICE, tools: mapped('the tools that stay') },
  ToolChoiceTypes: { type: FREE_CHOICE },
  ToolChoiceMcp: all(FREE_CHOICE, 'server_label type name'),
  ToolChoiceApplyPatch: { type: FREE_CHOICE },
  ToolChoiceShell: { type: FREE_CHOICE },
  'ResponseCreateParams.SpecificProgrammaticToolCallingParam': { type: FREE_CHOICE },

  Reasoning: {
    effort: mapped('`reasoning_effort`'),
    summary: ignored('the summary is always served'),
    generate_summary: ignored('the summary is always served'),
    context: ignored('the whole history goes up'),
    mode: ignored('engines have no place for it'),
  },
  ResponseTextConfig: { format: mapped('`response_format`'), verbosity: ignored('no engine here knows it') },
  ResponseFormatText: { type: mapped('needs nothing upstream') },
  ResponseFormatJSONObject: { type: AS_IS },
  ResponseFormatTextJSONSchemaConfig: {
    type: TYPE,
    name: AS_IS,
    description: AS_IS,
    schema: mapped('byte for byte'),
    strict: AS_IS,
  },
  ResponsePrompt: all(refused('prompt templates are not stored here'), 'id variables version'),
  ResponseConversationParam: { id: refused('this proxy keeps no conversation') },
  'ResponseCreateParams.StreamOptions': { include_obfuscation: ignored('streams are not obfuscated') },
  'ResponseCreateParams.AccessPrograms': { cyber: ignored("the provider's own bookkeeping") },
  'ResponseCreateParams.BackgroundOptions': all(
    ignored('for `background: true`, which is refused'),
    'completion_window continuation_id',
  ),
  'ResponseCreateParams.ContextManagement': all(
    ignored('the history goes up as it was sent; nothing is cut from it'),
    'type compact_threshold',
  ),
  'ResponseCreateParams.Image': { context_compression: ignored('images go up as they were sent') },
  'ResponseCreateParams.PromptCacheOptions': all(CACHE_HINT, 'comparison_response_id mode prewarm ttl'),
  'ResponseCreateParams.Moderation': all(refused('with moderation'), 'model policy'),
  'ResponseCreateParams.Moderation.Policy': all(refused('with moderation'), 'input output'),
  'ResponseCreateParams.Moderation.Policy.Input': { mode: refused('with moderation') },
  'ResponseCreateParams.Moderation.Policy.Output': { mode: refused('with moderation') },
};

function providers(owner: string): Readonly<Record<string, FieldTable>> {
  return Object.fromEntries(
    Object.entries(PROVIDERS).map(([name, members]) => [`${owner}.${name}`, all(HOSTED, members)]),
  );
}
