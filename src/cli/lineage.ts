import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { type RecordedRequest, type ReplayedRequest, replayRequests } from '../lineage/replay-requests.ts';
import type { ReasoningPolicy } from '../lineage/types.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { CallNames } from '../trainer/explain/call-names.ts';
import { count, table } from '../trainer/explain/table.ts';
import { readLedgerView } from '../trainer/ledger-view.ts';
import { addControlOptions, askControl } from './control-client.ts';
import { UsageError } from './usage-error.ts';

interface LineageOptions {
  readonly requests?: string;
  readonly reasoning: ReasoningPolicy;
  readonly json?: boolean;
}

/** `gym-model-proxy lineage`: why roots are roots, of an attempt in a running service or of requests that were written down. */
export function lineageCommand(): Command {
  return addControlOptions(
    new Command('lineage')
      .description(
        'Say why each root of an attempt is a root. Or, without a service: take the requests that an agent made from a file and say for each which earlier one it ' +
          'would continue, and why not otherwise. The file holds JSON lines {"path": "/v1/chat/completions", "body": {...}, "response": {...}}, in the order of the requests; ' +
          'the response (the complete object) may be left out, then what the next request puts in its place counts as the reply.',
      )
      .summary('say why roots are roots, also of requests from a file')
      .argument('[attempt]', 'an attempt in a running service'),
  )
    .option('--requests <file>', 'JSON lines of requests; - reads standard input')
    .addOption(
      new Option('--reasoning <policy>', 'lineage.reasoning, with --requests')
        .choices(['required', 'optional', 'hidden'])
        .default('required'),
    )
    .option('--json', 'print JSON')
    .action(async (attempt: string | undefined, options: LineageOptions) => {
      if ((attempt === undefined) === (options.requests === undefined))
        throw new UsageError('name an attempt, or a file of requests with --requests.');
      const lines =
        attempt === undefined
          ? requestLines(replayRequests(readRequests(options.requests as string), options.reasoning), options)
          : rootLines(
              await askControl({ ...options }, 'GET', `/ledger/${encodeURIComponent(attempt)}`),
              options.json === true,
            );
      console.log(lines.join('\n'));
    });
}

/** Every root of a ledger with its reason in words. */
function rootLines(text: string, json: boolean): string[] {
  const view = readLedgerView(JSON.parse(text));
  if (!view.ok)
    throw new UsageError(
      `the service answered with something that is no ledger: ${view.reasons.map(({ message }) => message).join('; ')}`,
    );
  const ledger = view.value;
  const roots = ledger.records.filter((record) => record.parent_call_id === null);
  if (json)
    return roots.map((record) =>
      JSON.stringify({
        model_call_id: record.model_call_id,
        response_id: record.response_id,
        ...ledger.whyRoot[record.model_call_id],
      }),
    );
  const names = new CallNames(ledger);
  const head = `attempt ${ledger.attempt}: ${count(ledger.records.length, 'call')}, ${count(roots.length, 'root')}`;
  const rows = roots.map((record) => {
    const why = ledger.whyRoot[record.model_call_id];
    const explanation = why?.explanation;
    return [
      names.of(record.model_call_id),
      why?.cause ?? 'unknown',
      typeof explanation === 'string' ? names.in(explanation) : '',
    ];
  });
  const shown = new Set(rows.flatMap((row) => row.join(' ').match(/\w+/g) ?? []));
  const legend = names.legend().filter(([name]) => shown.has(name));
  return [head, '', ...table(rows), ...(legend.length === 0 ? [] : ['', ...table(legend)])];
}

function requestLines(replayed: readonly ReplayedRequest[], { json }: LineageOptions): string[] {
  if (json === true) return replayed.map((one) => JSON.stringify(one));
  const continued = replayed.filter(({ outcome }) => outcome === 'continues').length;
  const roots = replayed.filter(({ outcome }) => outcome === 'root').length;
  return [
    `${count(replayed.length, 'request')}, ${count(continued, 'continuation')}, ${count(roots, 'root')}`,
    '',
    ...table(replayed.map((one) => [one.name, ...inWords(one)])),
  ];
}

function inWords(one: ReplayedRequest): [verdict: string, words: string] {
  switch (one.outcome) {
    case 'continues':
      return [`continues ${one.parent}`, one.assumed ? 'if the reply was what this request puts in its place' : ''];
    case 'root':
      return [`root: ${one.why.cause}`, String(one.why.explanation ?? '')];
    case 'ambiguous':
      return ['ambiguous', `It extends ${one.candidates.join(' and ')} alike, and no echoed id tells which one.`];
    case 'refused':
    case 'no_call':
      return [one.outcome === 'refused' ? 'refused' : 'no call', one.message];
    default: {
      const never: never = one;
      return never;
    }
  }
}

/** Requests of a file, named by their lines. Throws UsageError that names the line. */
function readRequests(file: string): RecordedRequest[] {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
  return text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [readRequest(line, `${at + 1}`, file)]));
}

function readRequest(line: string, name: string, file: string): RecordedRequest {
  const fail = (what: string) => new UsageError(`${file}, line ${name}: ${what}`);
  const node = parse(line);
  if (node === null) throw fail('this is not JSON.');
  const path = node.get('path')?.string();
  const body = asObject(node.present('body'));
  if (path === undefined || body === null)
    throw fail('it needs a "path" and a "body" that is a JSON object, or the text of one.');
  const response = node.present('response');
  if (response === undefined) return { name, path, body };
  const read = asObject(response);
  if (read === null) throw fail('"response" is no JSON object; leave it out where the reply was not kept whole.');
  return { name, path, body, response: read };
}

/** An object, or a string that holds the text of one; null for everything else. */
function asObject(node: JsonNode | undefined): JsonNode | null {
  const text = node?.string();
  const value = text === undefined ? node : parse(text);
  return value?.isObject() ? value : null;
}

function parse(text: string): JsonNode | null {
  const node = parseJson(Buffer.from(text));
  return isJsonProblem(node) ? null : node;
}
