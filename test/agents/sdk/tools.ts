/** A tool of the scripted tasks, in the terms that every SDK has. */
export interface TaskTool {
  readonly name: 'lookup' | 'add' | 'fragile' | 'ping';
  readonly description: string;
  /** Members of the arguments, all required, in the order of the schema. */
  readonly parameters: Readonly<Record<string, 'string' | 'number'>>;
  /** Throws where the tool fails. */
  run(args: Readonly<Record<string, unknown>>): string;
}

/** Results depend on the arguments alone. test/agents/python/tools.py has the same ones. */
export const TASK_TOOLS: readonly TaskTool[] = [
  {
    name: 'lookup',
    description: 'Looks a file up.',
    parameters: { limit: 'number', path: 'string' },
    run: ({ path, limit }) => `found ${String(path)} up to ${Number(limit)}`,
  },
  {
    name: 'add',
    description: 'Adds two numbers.',
    parameters: { a: 'number', b: 'number' },
    run: ({ a, b }) => `the sum is ${Number(a) + Number(b)}`,
  },
  {
    name: 'fragile',
    description: 'May break.',
    parameters: { reason: 'string' },
    run: ({ reason }) => {
      throw new Error(`it broke: ${String(reason)}`);
    },
  },
  { name: 'ping', description: 'Says pong.', parameters: {}, run: () => 'pong' },
];

/** A picture of one dot: what the tool `photo` gives, where a run asks for it. Base64 of a PNG. */
export const PHOTO = {
  name: 'photo',
  description: 'Takes a photo.',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  mediaType: 'image/png',
} as const;
