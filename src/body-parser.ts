import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceErrorException, serviceError } from './errors.ts';

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(zlib.gunzip) as Decoder,
  'x-gzip': promisify(zlib.gunzip) as Decoder,
  deflate: promisify(zlib.inflate) as Decoder,
  br: promisify(zlib.brotliDecompress) as Decoder,
  zstd: promisify(zlib.zstdDecompress) as Decoder,
};

/** Bodies reach the routes as bytes, whatever their content type says: JSON is read losslessly later. Compressed ones are decompressed within the same limit. */
export function takeBodiesAsBytes(app: FastifyInstance, limitBytes: number): void {
  app.removeAllContentTypeParsers();
  // The framework refuses what is no media type. Deleted, it would have the headers looked up by hash from then on.
  app.addHook('onRequest', (request, _reply, done) => {
    request.headers['content-type'] = undefined;
    done();
  });
  app.addContentTypeParser('*', (request, payload, done) => {
    collect(payload, Number(request.headers['content-length']), limitBytes, (error, body) => {
      const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
      if (error !== null || encoding === 'identity' || encoding === '') done(error, body);
      else decompressed(encoding, body as Buffer, limitBytes).then((whole) => done(null, whole), done);
    });
  });
}

/**
 * Collects a body. The framework would copy it once more, also where it came in one piece, as most do: it is the largest thing that a call allocates.
 */
function collect(
  payload: Readable,
  contentLength: number,
  limitBytes: number,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let isOver = false;
  const end = (error: Error | null, body?: Buffer) => {
    if (isOver) return;
    isOver = true;
    // The listeners stay as long as the request, the body must not.
    chunks.length = 0;
    done(error, body);
  };
  // The client went away inside its body: nobody is there to be told.
  const fail = () =>
    end(new ServiceErrorException(serviceError('invalid_request', 'The body did not arrive in full.')));
  const take = (chunk: Buffer) => {
    if (isOver) return;
    length += chunk.length;
    if (length > limitBytes) end(new ServiceErrorException(bodyTooLarge(limitBytes)));
    else chunks.push(chunk);
  };
  const finish = () => end(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length));
  if (contentLength > limitBytes) done(new ServiceErrorException(bodyTooLarge(limitBytes)));
  else payload.on('data', take).on('end', finish).on('error', fail);
}

async function decompressed(encoding: string, body: Buffer, limitBytes: number): Promise<Buffer> {
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (decode === undefined) {
    throw new ServiceErrorException(
      serviceError(
        'unsupported_media_type',
        `content-encoding: ${encoding} is not supported; use gzip, deflate, br, zstd, or none.`,
      ),
    );
  }
  try {
    return await decode(body, { maxOutputLength: limitBytes });
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new ServiceErrorException(
      tooLarge ? bodyTooLarge(limitBytes) : serviceError('invalid_json', `The body is not valid ${encoding}.`),
    );
  }
}

function bodyTooLarge(limitBytes: number) {
  return serviceError(
    'body_too_large',
    `The request body is larger than the limit of ${limitBytes} bytes (limits.body_bytes).`,
  );
}

/** The body of a request as bytes; empty where there was none. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}
