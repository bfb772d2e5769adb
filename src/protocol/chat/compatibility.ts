import { type DialectFields, ignored, mapped, refused } from '../field-table.ts';
import { SHARED_FIELDS } from '../sampling-fields.ts';

/** What becomes of every field of a Chat Completions request. */
export const CHAT_FIELDS: DialectFields = {
  request: {
    ...SHARED_FIELDS,
    messages: mapped('message by message'),
    model: mapped('configuration may override or alias it'),
    stream: mapped('decides the form of the reply; a captured call upstream never streams'),
  },
  nested: {},
};
void ignored;
void refused;
