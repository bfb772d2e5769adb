import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { callFacts } from '../call-facts.ts';
import { type Answered, completeChat } from '../complete-chat.ts';
import type { WorkerContext } from '../context.ts';
import { engineError } from '../engine-reply.ts';
import type { WorkerRoute } from '../match.ts';
import { measure } from '../measure.ts';
import { replyInstead } from '../tamper.ts';
import { hasApiKey, rawBody } from './request.ts';
import { sendReply } from './send-reply.ts';

/** What an inference engine serves: chat completions, tokenize, the model list, health. */
export function engineRoutes(worker: WorkerContext): FastifyPluginAsync {
  const { settings } = worker;
  const handOver = (reply: FastifyReply, { reply: answer, event, details }: Answered) => {
    const gone = reply.raw.destroyed || reply.raw.socket === null || reply.raw.socket.destroyed;
    worker.log.add(gone ? 'client_gone' : event, details);
    return sendReply(reply, answer, settings.streamDelayMs);
  };
  /** A route without a body, which faults can hit too. */
  const simple = (route: WorkerRoute, body: () => unknown) => async (_request: FastifyRequest, reply: FastifyReply) => {
    const facts = callFacts(worker, route, {}, null);
    const fault = worker.faults.take(facts);
    await worker.pause(fault, 'admission', facts);
    await worker.pause(fault, 'answer', facts);
    const answer = replyInstead(fault, settings.maxModelLen) ?? { kind: 'json' as const, status: 200, body: body() };
    return sendReply(reply, answer, settings.streamDelayMs);
  };

  return async (app: FastifyInstance) => {
    app.get(
      '/health',
      simple('health', () => ({})),
    );
    app.register(async (guarded) => {
      guarded.addHook('preHandler', async (request, reply) => {
        const { method, url: path, headers } = request;
        worker.keepRequest({ method, path, headers, body: rawBody(request) });
        if (hasApiKey(settings.apiKey, headers.authorization)) return undefined;
        return sendReply(reply, engineError(401, 'the API key is missing or wrong'), settings.streamDelayMs);
      });
      guarded.get(
        '/v1/models',
        simple('models', () => modelList(worker)),
      );
      guarded.post('/v1/chat/completions', async (request, reply) => {
        const header = request.headers['x-request-id'];
        const requestId = typeof header === 'string' ? header : null;
        return handOver(reply, await completeChat(worker, { body: rawBody(request), requestId }));
      });
      for (const path of ['/tokenize', '/v1/tokenize']) {
        guarded.post(path, async (request, reply) => handOver(reply, await measure(worker, rawBody(request))));
      }
    });
  };
}

function modelList({ settings }: WorkerContext): unknown {
  const created = Math.floor(settings.nowS());
  const data = settings.models.map((id) => ({
    id,
    object: 'model',
    created,
    owned_by: 'vllm',
    root: id,
    parent: null,
    max_model_len: settings.maxModelLen,
    permission: [],
  }));
  return { object: 'list', data };
}
