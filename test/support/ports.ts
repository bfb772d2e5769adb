import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const LOWEST_PORT = 15_000;
/** Linux's default; used where the system does not say. */
const USUAL_EPHEMERAL_START = 32_768;

/**
 * A TCP port on 127.0.0.1 that nobody listens on.
 *
 * It lies below the range from which the system takes the ports of outgoing connections, so a server that is killed gets
 * its port back when it is started again. Whoever can listen on port 0 should do that instead: between this answer and the
 * caller's `listen` another process may take the port.
 */
export async function freePort(): Promise<number> {
  const end = ephemeralStart();
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = LOWEST_PORT + Math.floor(Math.random() * (end - LOWEST_PORT));
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port found between ${LOWEST_PORT} and ${end}`);
}

/** `count` different free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

function ephemeralStart(): number {
  let range: string;
  try {
    range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  } catch {
    return USUAL_EPHEMERAL_START;
  }
  const start = Number.parseInt(range, 10);
  return start >= LOWEST_PORT + 1_000 ? start : USUAL_EPHEMERAL_START;
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
