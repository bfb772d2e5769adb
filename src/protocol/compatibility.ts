import { CHAT_FIELDS } from './chat/compatibility.ts';
import type { DialectFields } from './field-table.ts';
import { MESSAGES_FIELDS } from './messages/compatibility.ts';
import { RESPONSES_FIELDS } from './responses/compatibility.ts';

/**
 * What becomes of every field of every request, for all dialects: docs/compatibility.md is generated from it, and a test proves that it
 * covers the published types. Each dialect's own table stands in its folder.
 */
export const COMPATIBILITY = {
  responses: RESPONSES_FIELDS,
  chat: CHAT_FIELDS,
  messages: MESSAGES_FIELDS,
} as const satisfies Record<string, DialectFields>;
