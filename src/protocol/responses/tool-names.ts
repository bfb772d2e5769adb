import { hash as digestOf } from 'node:crypto';
import type { ClientTool } from '../conversation.ts';

/** Engines and chat templates know function names of this many characters at most. */
const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;
/** Codex sends its ordinary tools inside a group of this name; their calls go back without a namespace. */
const DEFAULT_NAMESPACE = 'functions';

/** A tool's namespace, with the ways of saying "none" read as null. */
export function namespaceOf(namespace: string | null | undefined): string | null {
  return namespace === undefined || namespace === null || namespace === '' || namespace === DEFAULT_NAMESPACE
    ? null
    : namespace;
}

/** The engine's name for a tool: its own, or `namespace__name`, shortened by a hash of it where it is too long (C29). */
export function flatName(namespace: string | null, name: string): string {
  if (namespace === null) return name;
  const flat = `${namespace}__${name}`;
  return flat.length <= MAX_NAME_LENGTH ? flat : cut(flat, `_${hash(flat)}`);
}

/** {@link flatName}, with a numbered suffix where another tool has that name already. */
export function freeName(wanted: string, taken: (name: string) => boolean): string {
  let name = wanted;
  for (let count = 2; taken(name); count++) name = cut(wanted, `_${count}`);
  return name;
}

/** What the engine calls the tools that a client names. */
export interface ToolNames {
  /**
   * The engine's name for a function or custom tool. Where the request does not declare the tool, its flat name; a call whose namespace
   * the client dropped is found by its bare name where that is unique (clients.md 2.5).
   */
  engineName(namespace: string | null | undefined, name: string): string;
  /** The engine's name for the client-run tool search. */
  readonly toolSearchName: string;
}

const NAMES = new WeakMap<ReadonlyMap<string, ClientTool>, ToolNames>();

/** Names in both directions, for the tools of one request by engine name. */
export function toolNames(tools: ReadonlyMap<string, ClientTool>): ToolNames {
  let names = NAMES.get(tools);
  if (names === undefined) {
    names = makeNames(tools);
    NAMES.set(tools, names);
  }
  return names;
}

function makeNames(tools: ReadonlyMap<string, ClientTool>): ToolNames {
  const exact = new Map<string, string>();
  for (const [engineName, tool] of tools) exact.set(identityOf(tool), engineName);
  const bare = bareNames(tools);
  return {
    engineName(namespaceSent, name) {
      const namespace = namespaceOf(namespaceSent);
      const engineName = exact.get(identityOf({ kind: 'function', namespace, name }));
      if (engineName !== undefined) return engineName;
      if (namespace !== null) return flatName(namespace, name);
      return tools.has(name) ? name : (bare.get(name) ?? name);
    },
    toolSearchName: exact.get(identityOf(TOOL_SEARCH)) ?? TOOL_SEARCH.name,
  };
}

export const TOOL_SEARCH: ClientTool = { kind: 'tool_search', name: 'tool_search', namespace: null };

/** A function and a custom tool of one name are one tool: calls name it without saying which. */
export function identityOf(tool: ClientTool): string {
  return JSON.stringify([tool.kind === 'tool_search', tool.namespace, tool.name]);
}

/**
 * The client's tool behind a name that the engine called: the exact name, else the one namespaced tool of that bare name. Undefined
 * where nothing, or more than one tool, answers to it (C30).
 */
export function servedTool(tools: ReadonlyMap<string, ClientTool>, name: string): ClientTool | undefined {
  return tools.get(name) ?? tools.get(bareNames(tools).get(name) ?? '');
}

/** Engine names of namespaced tools by bare name; null where several have it. */
function bareNames(tools: ReadonlyMap<string, ClientTool>): ReadonlyMap<string, string | null> {
  const names = new Map<string, string | null>();
  for (const [engineName, tool] of tools)
    if (tool.namespace !== null) names.set(tool.name, names.has(tool.name) ? null : engineName);
  return names;
}

function cut(name: string, suffix: string): string {
  return name.length + suffix.length <= MAX_NAME_LENGTH
    ? `${name}${suffix}`
    : `${name.slice(0, MAX_NAME_LENGTH - suffix.length).toWellFormed()}${suffix}`;
}

function hash(text: string): string {
  return digestOf('sha256', text).slice(0, HASH_LENGTH);
}
