import fastify from 'fastify';
import { Agent, request } from 'undici';

/** A plain Fastify service that passes the same bodies on: what any proxy in this place costs at least. */
const app = fastify({ bodyLimit: 64 * 1024 * 1024 });
const dispatcher = new Agent({ pipelining: 1 });
const worker = process.argv[2] as string;
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/*', async (incoming, reply) => {
  const answer = await request(`${worker}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: incoming.body as Buffer,
    dispatcher,
  });
  reply.code(answer.statusCode).type('application/json');
  return reply.send(Buffer.from(await answer.body.arrayBuffer()));
});
console.log(JSON.stringify({ url: await app.listen({ port: 0, host: '127.0.0.1' }) }));
