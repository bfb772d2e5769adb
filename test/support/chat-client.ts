import OpenAI from 'openai';
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';

/** What the official client makes of a Chat stream: its chunks, and the completion that its own accumulator puts together. */
export interface AccumulatedChat {
  readonly chunks: readonly ChatCompletionChunk[];
  readonly completion: ChatCompletion;
}

/** Feeds the bytes of a stream to openai-node, cut at the given size so that frames and characters fall apart. */
export async function accumulateChat(bytes: Buffer, networkChunk = 1000): Promise<AccumulatedChat> {
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://localhost/v1',
    maxRetries: 0,
    fetch: async () => new Response(cut(bytes, networkChunk), { headers: { 'content-type': 'text/event-stream' } }),
  });
  const stream = client.chat.completions.stream({ model: 'm', messages: [] });
  const chunks: ChatCompletionChunk[] = [];
  stream.on('chunk', (chunk) => chunks.push(structuredClone(chunk)));
  return { completion: await stream.finalChatCompletion(), chunks };
}

function cut(bytes: Buffer, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) {
        controller.close();
        return;
      }
      controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)));
      at += size;
    },
  });
}
