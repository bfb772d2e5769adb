import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { mintAgentKey } from '../../src/access.ts';
import { CONTROL_TOKEN, type Stack, startStack } from '../support/stack.ts';

/** The command line as a person meets it. */

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GYM_PROXY_')));
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: { ...inherited, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

describe('command line', () => {
  let stack: Stack;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gym-cli-'));
    stack = await startStack();
    const call = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };
    assert.equal((await stack.post('/ng-rollout/shown/v1/chat/completions', call)).status, 200);
  });
  after(async () => {
    await stack.close();
    rmSync(folder, { recursive: true });
  });

  const controlEnv = () => ({ GYM_PROXY_URL: stack.proxy.controlUrl, GYM_PROXY_CONTROL_TOKEN: CONTROL_TOKEN });

  test('--help says of every command what it does', async () => {
    const { code, stdout } = await run(['--help']);
    assert.equal(code, 0);
    const listed = [...stdout.matchAll(/^ {2}([a-z-]+)(?: \[.*?\])?(?: <.*?>)? {2,}(\S.*)$/gm)];
    const names = new Set(listed.map(([, name]) => name));
    for (const command of ['serve', 'worker', 'demo', 'doctor', 'ledger', 'rows', 'agent-key']) {
      assert.ok(names.has(command), command);
      const help = await run([command, '--help']);
      assert.equal(help.code, 0, command);
      assert.match(help.stdout, /^Usage: gym-model-proxy .*\n\n[A-Z]/, command);
    }
  });

  test('flags of the worker that count something take no other numbers', async () => {
    for (const flag of ['--weight-version', '--max-model-len', '--port']) {
      for (const value of ['-1', '1.5', 'one', '']) {
        const { code, stderr } = await run(['worker', `${flag}=${value}`]);
        assert.equal(code, 1, stderr);
        assert.match(
          stderr,
          new RegExp(`^error: option '${flag} <\\w+>' argument '${value}' is invalid\\. Expected an?`),
        );
      }
    }
  });

  test('a port that there is not is told in words', async () => {
    const { code, stderr } = await run(['worker', '--port', '99999']);
    assert.deepEqual(
      [code, stderr],
      [1, "error: option '--port <number>' argument '99999' is invalid. Expected a port, at most 65535.\n"],
    );
  });

  test('flags stand under the sections of the configuration, with variable and default', async () => {
    const { stdout } = await run(['serve', '--help']);
    const text = stdout.replace(/\s+/g, ' ');
    assert.match(
      text,
      /Ledger: --ledger-url <value> where the ledger is kept: .*\(GYM_PROXY_LEDGER_URL; default: sqlite:\.\/data\/ledger\.db\)/,
    );
    assert.match(
      text,
      /--log-level <value> .*: fatal, error, warn, info, debug, trace, silent \(GYM_PROXY_LOG_LEVEL; default: info\)/,
    );
    assert.match(text, /GYM_PROXY_CONTROL_TOKEN, or a file named in GYM_PROXY_CONTROL_TOKEN_FILE; default: none/);
  });

  test('what a person can mend is said in words, without a stack', async () => {
    const cases: [args: string[], env: Record<string, string>, message: RegExp][] = [
      [['serve'], {}, /a control token is needed[\s\S]*GYM_PROXY_CONTROL_TOKEN=[0-9a-f]{48}/],
      [['serv'], {}, /unknown command 'serv'[\s\S]*Did you mean serve\?/],
      [['doctor'], { GYM_PROXY_PROT: '1' }, /unknown variable GYM_PROXY_PROT; did you mean GYM_PROXY_PORT\?/],
      [['ledger', 'show', 'shown'], {}, /a control token is needed: --token, GYM_PROXY_CONTROL_TOKEN or/],
      [['ledger', 'show', 'shown', '--token', 'wrong'], { GYM_PROXY_URL: stack.proxy.controlUrl }, /: 401 This needs/],
      [['ledger', 'show', '.bad'], controlEnv(), /: 400 The attempt in the URL/],
      [['agent-key', 'a'], {}, /agents\.key_secret \(GYM_PROXY_AGENT_KEY_SECRET\) is not set/],
    ];
    for (const [args, env, message] of cases) {
      const { code, stderr } = await run(args, env);
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /\n {4}at /);
    }
  });

  test('ledger show draws, --json prints, export writes what the trainer gets; the token may stand in a file', async () => {
    const token = join(folder, 'token');
    writeFileSync(token, `${CONTROL_TOKEN}\n`);
    const env = { GYM_PROXY_URL: `${stack.proxy.controlUrl}/`, GYM_PROXY_CONTROL_TOKEN_FILE: token };
    const shown = await run(['ledger', 'show', 'shown'], env);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /shown[\s\S]*1 records?, 0 pending, 0 failures[\s\S]*first_call/);
    const served = (await stack.control('GET', '/ledger/shown')).text;
    assert.equal((await run(['ledger', 'show', 'shown', '--json'], env)).stdout, `${served}\n`);
    const out = join(folder, 'ledger.json');
    assert.equal((await run(['ledger', 'export', 'shown', out], env)).code, 0);
    assert.equal(readFileSync(out, 'utf8'), served);
  });

  test('ledger close closes, and its exit code says whether calls are still pending', async () => {
    const call = { model: 'policy', messages: [{ role: 'user', content: 'hello' }] };
    await stack.post('/ng-rollout/closed/v1/chat/completions', call);
    stack.worker.arm({ kind: 'capture_failed' });
    await stack.post('/ng-rollout/lost/v1/chat/completions', call);
    assert.equal((await run(['ledger', 'close', 'closed'], controlEnv())).code, 0);
    const lost = await run(['ledger', 'close', 'lost', '--wait-s', '0', '--json'], controlEnv());
    assert.equal(lost.code, 2);
    const ledger = JSON.parse(lost.stdout);
    assert.deepEqual([ledger.state, ledger.complete, ledger.manifest.pending_call_ids.length], ['closed', false, 1]);
  });

  test('agent-key mints the keys that the service takes', async () => {
    const env = { GYM_PROXY_AGENT_KEY_SECRET: 'a-secret-of-some-length' };
    const [one, two] = ['a', 'b.2'].map((attempt) => mintAgentKey(env.GYM_PROXY_AGENT_KEY_SECRET, attempt));
    assert.equal((await run(['agent-key', 'a', 'b.2'], env)).stdout, `${one}\n${two}\n`);
    const json = await run(['agent-key', 'a', 'b.2', '--json'], env);
    assert.deepEqual(JSON.parse(json.stdout), { a: one, 'b.2': two });
  });

  test('doctor says what works and what does not', async () => {
    const env = {
      GYM_PROXY_WORKERS: stack.worker.url,
      GYM_PROXY_LEDGER_URL: `sqlite:${join(folder, 'doctor.db')}`,
      GYM_PROXY_CONTROL_TOKEN: CONTROL_TOKEN,
    };
    const good = await run(['doctor'], env);
    assert.equal(good.code, 0, good.stdout + good.stderr);
    assert.match(good.stdout, /^ok {4}control token: set$/m);
    assert.match(good.stdout, /^ok {4}ledger: ledger_sync: synchronous FULL$/m);
    assert.match(good.stdout, /^ok {4}worker .*: status 200, models: policy$/m);
    const bad = await run(['doctor', '--json', '--workers', 'http://127.0.0.1:9'], env);
    assert.equal(bad.code, 1);
    const { ok, findings } = JSON.parse(bad.stdout);
    assert.equal(ok, false);
    assert.deepEqual(
      findings.filter((finding: { ok: boolean }) => !finding.ok).map(({ check }: { check: string }) => check),
      ['worker http://127.0.0.1:9'],
    );
  });
});
