import type { Command } from 'commander';
import { request } from 'undici';
import { readEnvironment } from '../../config/environment.ts';
import { UsageError } from './usage-error.ts';

/** Options of commands that talk to a running service as the trainer does. */
export function addControlOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'control URL of the service (GYM_PROXY_URL)',
      readEnvironment().GYM_PROXY_URL ?? 'http://127.0.0.1:8080',
    )
    .option('--token <token>', 'control token (GYM_PROXY_CONTROL_TOKEN)');
}

/** Asks the control side; throws UsageError with the service's own words where it refuses. Text of the reply. */
export async function askControl(
  options: Record<string, unknown>,
  method: 'GET' | 'POST',
  path: string,
): Promise<string> {
  const token = (options.token as string | undefined) ?? readEnvironment().GYM_PROXY_CONTROL_TOKEN;
  if (token === undefined) throw new UsageError('a control token is needed: --token or GYM_PROXY_CONTROL_TOKEN.');
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
