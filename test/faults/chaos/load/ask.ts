import { type Dispatcher, Agent as HttpAgent } from 'undici';

/** What came back on one request, whole or not. */
export interface Answer {
  /** Null: not even a head came. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly whole: boolean;
  /** Nobody waited for it. */
  readonly hungUp: boolean;
}

export interface Question {
  readonly method?: 'GET' | 'POST';
  readonly port: number;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Hangs up after so long. */
  readonly hangUpAfterMs?: number | null;
}

/** A request that has no end after so long is broken off, and counted as broken by the network. */
const LONGEST_MS = 60_000;

/** The agents' HTTP client: keeps connections, never repeats anything by itself, and keeps what arrived of an answer that broke off. */
export class Client {
  private readonly agent: Dispatcher = new HttpAgent({ pipelining: 1, connect: { timeout: 5_000 } });

  async ask(question: Question): Promise<Answer> {
    const { method = 'POST', port, path, body, headers = {}, hangUpAfterMs = null } = question;
    const hangUp = new AbortController();
    const timer = setTimeout(() => hangUp.abort(), hangUpAfterMs ?? LONGEST_MS);
    let status: number | null = null;
    let answered: Answer['headers'] = {};
    const chunks: Buffer[] = [];
    let whole = false;
    try {
      const reply = await this.agent.request({
        origin: `http://127.0.0.1:${port}`,
        path,
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headersTimeout: 0,
        bodyTimeout: 0,
        signal: hangUp.signal,
      });
      status = reply.statusCode;
      answered = reply.headers;
      for await (const chunk of reply.body) chunks.push(chunk as Buffer);
      whole = true;
    } catch {
      // Connections break in this harness: what arrived before is what was seen.
    }
    clearTimeout(timer);
    return {
      status,
      headers: answered,
      text: Buffer.concat(chunks).toString(),
      whole,
      hungUp: hangUpAfterMs !== null && hangUp.signal.aborted,
    };
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}
