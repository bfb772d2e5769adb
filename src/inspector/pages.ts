import { z } from 'zod';
import { whyRoot } from '../protocol/wire/ledger.ts';
import { id, unsigned } from '../protocol/wire/primitives.ts';

/** What the inspector page asks for and gets: pages by cursor, without texts. The one source of these types; the OpenAPI document is made from it. */

export const attemptsQuery = z.strictObject({
  cursor: z
    .string()
    .max(256)
    .optional()
    .meta({ description: 'name after which the page begins: `next` of the page before; without it, from the start' }),
  limit: z.coerce.number().int().min(1).max(500).default(100).meta({ description: 'most attempts of one page' }),
});
export type AttemptsQuery = z.infer<typeof attemptsQuery>;

export const attemptsPage = z.strictObject({
  attempts: z.array(
    z.strictObject({
      attempt: id,
      state: z.enum(['open', 'closed', 'retired']),
      records: unsigned,
      pending: unsigned,
      failures: unsigned,
      refused: unsigned,
      last_activity_at: z.number().meta({ description: 'seconds since the epoch' }),
    }),
  ),
  next: id.nullable().meta({ description: 'cursor of the next page, or null at the end' }),
});
export type AttemptsPage = z.infer<typeof attemptsPage>;

export const callsQuery = z.strictObject({
  from: z.coerce.number().int().min(0).default(0).meta({ description: 'number of the first record, in commit order' }),
  limit: z.coerce.number().int().min(1).max(500).default(200).meta({ description: 'most records of one page' }),
});
export type CallsQuery = z.infer<typeof callsQuery>;

/** One recorded call: its place in the forest and how it ended. */
export const callRow = z.strictObject({
  model_call_id: id,
  parent_call_id: id.nullable(),
  prev_len: unsigned,
  delta_len: unsigned,
  cum_len: unsigned,
  weight_version: unsigned,
  response_status: z.string().nullable(),
  finish_reason: z.string().nullable(),
  admitted_at: z.number().meta({ description: 'seconds since the epoch' }),
  why_root: whyRoot.optional().meta({ description: 'roots only: why it is one' }),
});
export type CallRow = z.infer<typeof callRow>;

export const callsPage = z.strictObject({
  attempt: id,
  state: z.enum(['open', 'closed']),
  complete: z.boolean().meta({ description: 'closed and nothing pending' }),
  counts: z.strictObject({ records: unsigned, pending: unsigned, failures: unsigned, refused: unsigned }),
  from: unsigned,
  calls: z.array(callRow).meta({ description: 'in commit order; records never change and only grow' }),
  next: unsigned.nullable().meta({ description: '`from` of the next page, or null at the end' }),
  pending: z.array(id).meta({ description: 'the first 1000' }),
  failures: z
    .array(z.strictObject({ model_call_id: id, reason: z.string() }))
    .meta({ description: 'the first 1000; a call with a record can have one, too' }),
  refused: z
    .array(z.strictObject({ model_call_id: id, code: z.string() }))
    .meta({ description: 'the first 1000 intents that were settled as refused' }),
});
export type CallsPage = z.infer<typeof callsPage>;
