import { type DialectFields, ignored, mapped, refused } from '../field-table.ts';
import { SHARED_FIELDS } from '../sampling-fields.ts';
import { MESSAGES_TYPES } from './compatibility-types.ts';

const OF_THE_PROVIDER = "the provider's own bookkeeping; no engine knows it";
const CACHE = 'the engine caches prefixes by itself';

/** What becomes of every field of a Messages request, beta fields included. */
export const MESSAGES_FIELDS: DialectFields = {
  request: {
    ...SHARED_FIELDS,
    model: mapped('configuration may override or alias it'),
    messages: mapped('block by block'),
    system: mapped('the system message; a leading `x-anthropic-billing-header` block is left out'),
    max_tokens: mapped('`max_tokens`; absent, the engine generates up to its own limit; below 1 it is refused'),
    stop_sequences: mapped('`stop`'),
    temperature: mapped('as it is'),
    top_p: mapped('as it is'),
    top_k: mapped('as it is'),
    frequency_penalty: mapped('as it is (not official)'),
    presence_penalty: mapped('as it is (not official)'),
    seed: mapped('as it is (not official)'),
    logit_bias: mapped('as it is (not official)'),
    stream: mapped('decides the form of the reply; the call upstream never streams'),
    tools: mapped('custom tools become functions, schemas byte for byte; tools that the provider runs are left out'),
    tool_choice: mapped('`tool_choice`; `disable_parallel_tool_use: true` is `parallel_tool_calls: false`'),
    output_config: mapped('`effort` is `reasoning_effort`, `format` is `response_format`'),
    output_format: mapped('the older `output_config.format`'),
    n: refused('other than 1, under capture'),
    logprobs: refused('`true` under capture; the dialect has no place for log probabilities'),
    top_logprobs: refused('above 0 under capture; the dialect has no place for log probabilities'),
    mcp_servers: refused('the model is not connected to MCP servers here'),
    container: refused('nothing is executed here'),
    compaction: refused('agents summarize in an ordinary request; ignored where tokens are counted'),
    thread: refused('this proxy keeps no conversation'),
    thinking: ignored(
      'whether and how much a model reasons is set by its template: `chat_template_kwargs` or `output_config.effort`',
    ),
    context_management: ignored('the history goes up as it was sent; nothing is cleared from it'),
    cache_control: ignored(CACHE),
    metadata: ignored(OF_THE_PROVIDER),
    service_tier: ignored(OF_THE_PROVIDER),
    speed: ignored(OF_THE_PROVIDER),
    inference_geo: ignored(OF_THE_PROVIDER),
    billing_policy: ignored(OF_THE_PROVIDER),
    diagnostics: ignored(OF_THE_PROVIDER),
    fallbacks: ignored('there is one model; a refusal is served as it is'),
    fallback_credit_token: ignored(OF_THE_PROVIDER),
    betas: ignored('a header; what it turns on has fields of its own'),
    user_profile_id: ignored('a header'),
    workspace_id: ignored('a header'),
  },
  nested: MESSAGES_TYPES,
};
