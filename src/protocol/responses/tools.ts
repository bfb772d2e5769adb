import { type ClientTool, isRefusal, type RequestRefusal } from '../conversation.ts';
import type { JsonFragment } from '../json/fragment.ts';
import type { JsonNode } from '../json/json-node.ts';
import type { Memorable } from '../json/memo.ts';
import { readMemo } from '../read-memo.ts';
import { invalid, unsupported, wrongType } from '../refusals.ts';
import { customDefinition, functionDefinition, nestedDefinition } from './tool-definitions.ts';
import { flatName, freeName, identityOf, namespaceOf, TOOL_SEARCH, type ToolNames, toolNames } from './tool-names.ts';

/** Tools that only the provider of a hosted model can run. They are left out of what the engine sees (C32). */
const HOSTED =
  /^(web_search|file_search|code_interpreter|image_generation|computer)(_|$)|^(mcp|programmatic_tool_calling|local_shell|shell|apply_patch)$/;

export function isHostedToolType(type: string): boolean {
  return HOSTED.test(type);
}

/** A list of tools and where it stands in the request: `tools`, or inside an input item. */
export interface ToolSource {
  readonly tools: JsonNode;
  readonly path: string;
}

/** One tool as the engine sees it. */
export interface EngineTool extends Memorable {
  readonly engineName: string;
  readonly json: readonly JsonFragment[];
  readonly client: ClientTool;
}

/** All tools of a request, under the names that the engine knows. */
export interface ToolTable {
  /** In the order of the request, each once: a later definition of the same tool takes the place of the earlier one. */
  readonly tools: readonly EngineTool[];
  readonly clientTools: ReadonlyMap<string, ClientTool>;
  /** Types of hosted tools that were left out, one entry per tool. */
  readonly leftOut: readonly string[];
  readonly names: ToolNames;
}

class Collector {
  private readonly leftOut: string[] = [];
  private readonly byIdentity = new Map<string, EngineTool>();
  private readonly clientTools = new Map<string, ClientTool>();

  table(): ToolTable {
    const { leftOut, clientTools } = this;
    return { tools: [...this.byIdentity.values()], clientTools, leftOut, names: toolNames(clientTools) };
  }

  addAll(tools: JsonNode, path: string, namespace: string | null): RequestRefusal | null {
    for (const [at, tool] of tools.elements().entries()) {
      const refusal = this.addOne(tool, `${path}[${at}]`, namespace);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  private addOne(tool: JsonNode, path: string, namespace: string | null): RequestRefusal | null {
    if (!tool.isObject()) return wrongType(path, 'a tool', tool);
    const type = tool.present('type')?.string();
    switch (type) {
      case undefined:
        return invalid(`${path}.type`, 'a tool needs a type, such as "function"');
      case 'function':
        return this.addFunction(tool, path, namespace);
      case 'custom':
        return this.addNamed(tool, path, (name) => {
          this.put({ kind: 'custom', name, namespace }, (engineName) => customDefinition(tool, engineName));
        });
      case 'namespace':
        return this.addNamespace(tool, path, namespace);
      case 'tool_search':
        if (tool.present('execution')?.string() !== 'client') this.leftOut.push(type);
        else this.put(TOOL_SEARCH, (engineName) => functionDefinition(tool, engineName));
        return null;
      default:
        if (!isHostedToolType(type))
          return unsupported(
            `${path}.type`,
            `the tool type ${JSON.stringify(type)} is not known here; remove the tool`,
          );
        this.leftOut.push(type);
        return null;
    }
  }

  private addFunction(tool: JsonNode, path: string, namespace: string | null): RequestRefusal | null {
    const inner = tool.present('name') === undefined ? tool.present('function') : undefined;
    if (inner === undefined)
      return this.addNamed(tool, path, (name) => {
        this.put({ kind: 'function', name, namespace }, (engineName) => functionDefinition(tool, engineName));
      });
    return this.addNamed(inner, `${path}.function`, (name) => {
      this.put({ kind: 'function', name, namespace }, (engineName) =>
        engineName === name ? nestedDefinition(inner) : functionDefinition(inner, engineName),
      );
    });
  }

  private addNamespace(tool: JsonNode, path: string, outer: string | null): RequestRefusal | null {
    if (outer !== null) return unsupported(`${path}.type`, 'a namespace inside a namespace is not supported');
    const name = toolName(tool, path);
    if (isRefusal(name)) return name;
    const tools = tool.present('tools');
    if (tools?.isArray() !== true) return wrongType(`${path}.tools`, 'an array of tools', tools);
    return this.addAll(tools, `${path}.tools`, namespaceOf(name.name));
  }

  private addNamed(tool: JsonNode, path: string, add: (name: string) => void): RequestRefusal | null {
    const name = toolName(tool, path);
    if (isRefusal(name)) return name;
    add(name.name);
    return null;
  }

  private put(client: ClientTool, define: (engineName: string) => readonly JsonFragment[]): void {
    const key = identityOf(client);
    const engineName =
      this.byIdentity.get(key)?.engineName ??
      freeName(flatName(client.namespace, client.name), (name) => this.clientTools.has(name));
    this.byIdentity.set(key, { engineName, json: define(engineName), client });
    this.clientTools.set(engineName, client);
  }
}

const TABLES = readMemo<ToolTable>();
const NO_TOOLS = new Collector().table();

/** Collects the tools of a request: those of `tools` first, then those that input items add, in their order (C31, C33). */
export function collectTools(sources: readonly ToolSource[]): ToolTable | RequestRefusal {
  const lists = sources.map(({ tools }) => tools);
  const [first] = lists;
  return first === undefined ? NO_TOOLS : TABLES.of(first, lists, () => tableOf(sources));
}

function tableOf(sources: readonly ToolSource[]): ToolTable | RequestRefusal {
  const collector = new Collector();
  for (const { tools, path } of sources) {
    if (!tools.isArray()) return wrongType(path, 'an array of tools', tools);
    const refusal = collector.addAll(tools, path, null);
    if (refusal !== null) return refusal;
  }
  return collector.table();
}

function toolName(tool: JsonNode, path: string): { readonly name: string } | RequestRefusal {
  const name = tool.present('name');
  if (name === undefined || name.string() === '') return invalid(`${path}.name`, 'a tool needs a name');
  const text = name.string();
  return text === undefined ? wrongType(`${path}.name`, 'a string', name) : { name: text };
}
