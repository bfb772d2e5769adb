import { CHAT_FIELDS } from './chat/compatibility.ts';
import type { DialectFields } from './field-table.ts';

/**
 * What becomes of every field of every request, for all dialects: docs/compatibility.md is generated from it, and a test proves that it
 * covers the published types. Each dialect's own table stands in its folder.
 */
export const COMPATIBILITY = { chat: CHAT_FIELDS } as const satisfies Record<string, DialectFields>;
