import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { request } from 'undici';
import { readEnvironment } from '../../config/environment.ts';
import { UsageError } from './usage-error.ts';

/** Options of commands that talk to a running service as the trainer does. */
export function addControlOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'base URL of the service, or of its control port (GYM_PROXY_URL)',
      readEnvironment().GYM_PROXY_URL ?? 'http://127.0.0.1:8080',
    )
    .option(
      '--token <token>',
      'control token (GYM_PROXY_CONTROL_TOKEN, or a file named in GYM_PROXY_CONTROL_TOKEN_FILE)',
    );
}

/** The control token: the flag, the variable, or the file that a variable names. Undefined where there is none; throws UsageError where the file cannot be read. */
export function controlToken(options: { readonly token?: unknown }): string | undefined {
  const env = readEnvironment();
  if (typeof options.token === 'string') return options.token;
  if (env.GYM_PROXY_CONTROL_TOKEN !== undefined) return env.GYM_PROXY_CONTROL_TOKEN.trim();
  if (env.GYM_PROXY_CONTROL_TOKEN_FILE === undefined) return undefined;
  try {
    return readFileSync(env.GYM_PROXY_CONTROL_TOKEN_FILE, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`GYM_PROXY_CONTROL_TOKEN_FILE: ${(error as Error).message}`);
  }
}

/** Asks the control side; throws UsageError with the service's own words where it refuses. Text of the reply. */
export async function askControl(
  options: Record<string, unknown>,
  method: 'GET' | 'POST',
  path: string,
): Promise<string> {
  const token = controlToken(options);
  if (token === undefined)
    throw new UsageError(
      'a control token is needed: --token, GYM_PROXY_CONTROL_TOKEN or GYM_PROXY_CONTROL_TOKEN_FILE.',
    );
  const url = `${String(options.url).replace(/\/+$/, '')}${path}`;
  let reply: Awaited<ReturnType<typeof request>>;
  try {
    reply = await request(url, {
      method,
      headers: { authorization: `Bearer ${token}` },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  } catch (error) {
    throw new UsageError(`${url}: ${(error as Error).message || (error as { code?: string }).code}`);
  }
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new UsageError(`${method} ${url}: ${reply.statusCode} ${message(text)}`);
  return text;
}

function message(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return text.slice(0, 200);
  }
}
