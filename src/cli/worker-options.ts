import closeWithGrace from 'close-with-grace';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { runReferenceWorker, type WorkerCommandOptions } from '../reference-worker/command.ts';

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number.');
  return value;
}

function unsigned(text: string): number {
  const value = number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('Expected an integer from 0 on.');
  return value;
}

function port(text: string): number {
  const value = unsigned(text);
  if (value > 65_535) throw new InvalidArgumentError('Expected a port, at most 65535.');
  return value;
}

/** Flags of `gym-model-proxy worker`. */
export function addWorkerOptions(command: Command): Command {
  return command
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on', port, 8000)
    .option('--models <names>', 'comma-separated model names', 'policy')
    .option('--max-model-len <tokens>', 'prompt and generated tokens together', unsigned)
    .option('--weight-version <number>', 'weight version of what is generated', unsigned)
    .option('--latency-ms <ms>', 'how long every generation takes', number)
    .addOption(
      new Option('--reasoning-key <name>', 'key under which messages carry reasoning').choices([
        'reasoning',
        'reasoning_content',
        'both',
      ]),
    )
    .addOption(new Option('--kind <kind>', 'where the admission is looked for').choices(['auto', 'vllm', 'megatron']))
    .option('--api-key <key>', 'bearer that calls must carry')
    .option('--script-file <file>', 'JSON or YAML with scripted answers')
    .option('--vocabulary-file <file>', 'JSON or YAML: texts with their token ids')
    .option('--queue-file <file>', 'JSON lines that keep staged tokens across restarts')
    .option('--log-file <file>', 'JSON lines of what was admitted, staged and acknowledged')
    .option('--instant', 'answer without tokenizing, for benchmarks')
    .option('--json', 'print the address as JSON');
}

/** Runs the worker until a signal comes. */
export async function runWorker(options: Record<string, unknown>): Promise<void> {
  const { models, instant, json, ...rest } = options;
  const worker = await runReferenceWorker({
    ...(rest as WorkerCommandOptions),
    models: String(models)
      .split(',')
      .map((name) => name.trim()),
    ...(instant === true ? { instant: {} } : {}),
  });
  console.log(
    json === true
      ? JSON.stringify({ url: worker.url, port: worker.port })
      : `reference worker: ${worker.url}/v1 (tokens: ${worker.url}/transfer-queue)`,
  );
  closeWithGrace({ logger: false }, async () => worker.close());
}
