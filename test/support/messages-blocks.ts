/** Blocks of Messages requests and the upstream messages that they become, for table-driven tests. */

export const PNG = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
export const PNG_UP = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
export const BELOW = '[image attached below]';
export const GO = { role: 'user', content: 'go' };

export const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });
export const thinking = (words: string, signature = 's') => ({ type: 'thinking', thinking: words, signature });
export const call = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'f', input });
export const result = (id: string, content: unknown, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
export const user = (...content: unknown[]) => ({ role: 'user', content });
export const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
export const system = (content: unknown) => ({ role: 'system', content });

/** Upstream: an assistant message; one that only calls has content null. */
export const spoken = (content: string, more: object = {}) => ({ role: 'assistant', content, ...more });
export const called = (...ids: string[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(upCall) });
export const upCall = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
export const tool = (id: string, content: unknown) => ({ role: 'tool', content, tool_call_id: id });
