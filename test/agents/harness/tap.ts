import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request of an agent and what it got, byte for byte. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** 0: the connection ended without a head. */
  status: number;
  replyHeaders: IncomingHttpHeaders;
  reply: string;
  /** The agent went away before it had the whole reply. */
  abandoned: boolean;
}

/** Stands between an agent and the proxy and writes down what crosses. */
export interface Tap {
  readonly url: string;
  /** In the order in which the requests came. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

/** Listens on a free port and forwards everything to `target` (`http://host:port`), streaming. */
export async function startTap(target: string): Promise<Tap> {
  const exchanges: Exchange[] = [];
  const server = createServer((incoming, outgoing) => {
    forward(target, incoming, outgoing, exchanges).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  exchanges: Exchange[],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const exchange: Exchange = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: body.toString(),
    status: 0,
    replyHeaders: {},
    reply: '',
    abandoned: false,
  };
  exchanges.push(exchange);
  const upstream = request(target + incoming.url, { method: incoming.method, headers: incoming.headers });
  outgoing.on('close', () => {
    if (outgoing.writableFinished) return;
    exchange.abandoned = true;
    upstream.destroy();
  });
  upstream.end(body);
  const [reply] = (await once(upstream, 'response')) as [IncomingMessage];
  exchange.status = reply.statusCode ?? 0;
  exchange.replyHeaders = reply.headers;
  outgoing.writeHead(exchange.status, reply.headers);
  outgoing.flushHeaders();
  const decoder = new TextDecoder();
  for await (const chunk of reply) {
    exchange.reply += decoder.decode(chunk as Buffer, { stream: true });
    outgoing.write(chunk);
  }
  outgoing.end();
}
