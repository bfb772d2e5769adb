/** Items of a Responses input, and the upstream messages that they become. */

export const user = (text: string) => ({ role: 'user', content: text });
export const said = (text: string, more: object = {}) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
  ...more,
});
export const thought = (text: string) => ({
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text }],
});
export const fc = (id: string, args = '{}') => ({ type: 'function_call', call_id: id, name: 'f', arguments: args });
export const fco = (id: string, output: unknown = 'ok') => ({ type: 'function_call_output', call_id: id, output });
export const call = (id: string, args = '{}', name = 'f') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
export const turn = (content: string | null, ...calls: object[]) => ({
  role: 'assistant',
  content,
  ...(calls.length === 0 ? {} : { tool_calls: calls }),
});
export const tool = (id: string, content: unknown = 'ok') => ({ role: 'tool', content, tool_call_id: id });
export const image = (url: string, detail?: string) => ({
  type: 'image_url',
  image_url: detail === undefined ? { url } : { url, detail },
});
