import { parseArgs } from 'node:util';
import { needsRedis, PLANTS, type Plant } from './processes/plants.ts';
import { figures, verdict } from './report.ts';
import { type ChaosOptions, runChaos } from './run-chaos.ts';

const HELP = `npm run chaos -- [options]

Runs random rollouts through three replicas on one Redis (or one on SQLite) while it kills replicas, Redis and the worker and breaks the connections between
them, then checks every invariant of the ledger against the worker's own log. Exits 1 if one is broken.

  --ledger redis|sqlite   default redis
  --seed TEXT             default: a new one, printed
  --seconds N             how long, at most; default 35
  --long                  at least 1,000 kills and 100,000 calls, for 30 minutes at most
  --kills N --calls N     ends as soon as both are reached
  --concurrency N         rollouts at once; default 12, 48 with --long
  --pause-ms N            between two faults, in the mean; default 350, 420 with --long
  --plant BUG             plants a bug that the run has to find:
${Object.entries(PLANTS)
  .map(([name, text]) => `                            ${name}: ${text}`)
  .join('\n')}
  --json                  the report as JSON
`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    ledger: { type: 'string', default: 'redis' },
    seed: { type: 'string' },
    seconds: { type: 'string' },
    kills: { type: 'string' },
    calls: { type: 'string' },
    concurrency: { type: 'string' },
    'pause-ms': { type: 'string' },
    long: { type: 'boolean', default: false },
    plant: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

/** The options of the run, or what is wrong with the command line. */
function optionsFrom(): ChaosOptions | string {
  const { ledger, plant, long } = values;
  if (ledger !== 'redis' && ledger !== 'sqlite') return `--ledger ${ledger}: redis or sqlite`;
  if (plant !== undefined && !(plant in PLANTS)) return `--plant ${plant}: one of ${Object.keys(PLANTS).join(', ')}`;
  if (plant !== undefined && ledger === 'sqlite' && needsRedis(plant as Plant)) return `--plant ${plant} needs Redis`;
  return {
    seed: values.seed ?? String(Math.floor(Math.random() * 1e9)),
    ledger,
    plant: (plant as Plant | undefined) ?? null,
    concurrency: Number(values.concurrency ?? (long ? 48 : 12)),
    meanPauseMs: Number(values['pause-ms'] ?? (long ? 420 : 350)),
    seconds: Number(values.seconds ?? (long ? 1800 : 35)),
    ...(long || values.kills !== undefined || values.calls !== undefined
      ? { kills: Number(values.kills ?? (long ? 1000 : 0)), calls: Number(values.calls ?? (long ? 100_000 : 0)) }
      : {}),
    rowsOfEvery: long ? 20 : 1,
    keepsFiles: true,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  };
}

const options = optionsFrom();
const say = (line: string) => process.stdout.write(`${line}\n`);
const tell = (line: string) => process.stderr.write(`${line}\n`);

if (values.help) say(HELP);
else if (typeof options === 'string') {
  tell(`${options}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  tell(`seed ${options.seed}`);
  const report = await runChaos(options);
  if (values.json) say(JSON.stringify(report));
  else for (const line of [...figures(report), ...verdict(report)]) say(line);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}
