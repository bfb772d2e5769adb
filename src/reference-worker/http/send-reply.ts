import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { EngineReply } from '../engine-reply.ts';

/** Sends an answer, or does to the connection what it says instead. */
export async function sendReply(
  reply: FastifyReply,
  answer: EngineReply,
  streamDelayMs: number,
): Promise<FastifyReply> {
  switch (answer.kind) {
    case 'json':
    case 'text':
      return reply
        .code(answer.status)
        .headers({ 'content-type': 'application/json', ...answer.headers })
        .send(bodyOf(answer));
    case 'stream':
      reply.hijack();
      await stream(reply.raw, answer.events, streamDelayMs);
      reply.raw.end();
      return reply;
    case 'drop':
      reply.hijack();
      reply.raw.destroy();
      return reply;
    case 'drop_mid_body':
      reply.hijack();
      await dropMidBody(reply.raw, answer.reply, streamDelayMs);
      return reply;
    default:
      return answer satisfies never;
  }
}

function bodyOf(answer: Extract<EngineReply, { kind: 'json' | 'text' }>): string {
  return answer.kind === 'text' ? answer.body : JSON.stringify(answer.body);
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

async function stream(raw: ServerResponse, events: readonly string[], delayMs: number): Promise<void> {
  raw.writeHead(200, STREAM_HEADERS);
  for (const event of events) {
    if (raw.destroyed) return;
    await written(raw, event);
    if (delayMs > 0) await sleep(delayMs);
  }
}

/** Resolves when the connection has taken the chunk, or is gone. */
function written(raw: ServerResponse, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      raw.off('close', done);
      resolve();
    };
    raw.once('close', done);
    raw.write(chunk, done);
  });
}

async function dropMidBody(raw: ServerResponse, answer: EngineReply, delayMs: number): Promise<void> {
  if (answer.kind === 'stream') {
    await stream(raw, answer.events.slice(0, Math.ceil(answer.events.length / 2)), delayMs);
  } else if (answer.kind === 'json' || answer.kind === 'text') {
    const body = Buffer.from(bodyOf(answer));
    raw.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': body.length });
    await written(raw, body.subarray(0, Math.ceil(body.length / 2)));
  }
  raw.destroy();
}
