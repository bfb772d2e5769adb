import { z } from 'zod';
import { hex64, unsigned } from './primitives.ts';

/** Source evidence on the wire (protocol sections 3, 4, 7), schema 3 only. */

export const replayRole = z.enum(['system', 'developer', 'user', 'assistant', 'tool']);

export const replayItem = z.strictObject({
  schema_version: z.literal(3),
  role: replayRole,
  digest: hex64,
  empty_tool_content_digest: hex64.nullable(),
});
export type ReplayItem = z.infer<typeof replayItem>;

export const requestReplay = z.strictObject({
  schema_version: z.literal(3),
  normalization_version: z.literal(1),
  items: z.array(replayItem),
  render_digest: hex64.nullable(),
});
export type RequestReplay = z.infer<typeof requestReplay>;

export const replaySummary = z.strictObject({
  schema_version: z.literal(3),
  normalization_version: z.literal(1),
  item_count: unsigned,
  source_digest: hex64,
  empty_tool_content_digest: hex64,
  render_digest: hex64.nullable(),
});
export type ReplaySummary = z.infer<typeof replaySummary>;
