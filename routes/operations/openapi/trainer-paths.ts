import { closeQuery } from '../../trainer/close-attempt.ts';
import { errorResponses } from './error-responses.ts';
import { type JsonObject, queryParameters, ref } from './json-schemas.ts';
import { ATTEMPT, jsonReply, SECURITY } from './parts.ts';

/** The trainer's side (protocol section 7), under this project's paths and under the peers'. */

const operation = (operationId: string, summary: string, description: string) => ({
  operationId,
  tags: ['Trainer'],
  summary,
  description,
  security: SECURITY.control,
});

export function trainerPaths(): JsonObject {
  return {
    '/ledger/{attempt}': {
      parameters: [ATTEMPT],
      get: {
        ...operation(
          'ReadLedger',
          "An attempt's ledger",
          'The records and what is pending, failed or refused at this moment. An attempt that nobody has used is open and empty.',
        ),
        responses: { 200: jsonReply('The ledger.', 'Ledger'), ...errorResponses('readControl', 'OpenAIError') },
      },
    },
    '/ledger/{attempt}/close': {
      parameters: [ATTEMPT],
      post: {
        ...operation(
          'CloseAttempt',
          'Close an attempt and wait for its calls',
          'Takes no further calls, then waits until every admitted one has committed, was refused or has a failure row, or the time is up. ' +
            '`complete` says whether nothing is pending. Can be asked again.',
        ),
        parameters: queryParameters(closeQuery),
        responses: {
          200: jsonReply('The ledger, complete or not.', 'Ledger'),
          ...errorResponses('readControl', 'OpenAIError'),
        },
      },
    },
    ...removalPaths('/ledger', 'CaptureKeys', ''),
    '/training-token-capture/control/rollouts/{attempt}/manifest': {
      parameters: [ATTEMPT],
      get: {
        ...operation('ReadManifest', "An attempt's manifest", "The manifest alone, under the peers' path."),
        responses: { 200: jsonReply('The manifest.', 'Manifest'), ...errorResponses('readControl', 'OpenAIError') },
      },
    },
    ...removalPaths('/training-token-capture/control/rollouts', 'RolloutIds', 'Rollouts'),
  };
}

function removalPaths(prefix: string, bodyName: string, suffix: string): JsonObject {
  const path = (name: string, summary: string, description: string) => ({
    post: {
      ...operation(name, summary, description),
      requestBody: { required: true, content: { 'application/json': { schema: ref(bodyName) } } },
      responses: { 200: jsonReply('What was removed.', 'Removal'), ...errorResponses('removeControl', 'OpenAIError') },
    },
  });
  return {
    [`${prefix}/retire`]: path(
      `Retire${suffix || 'Attempts'}`,
      'Retire attempts',
      'Removes their rows and leaves a fence: late records are dropped, reads and calls answer 410. Tokens are not touched.',
    ),
    [`${prefix}/delete`]: path(
      `Delete${suffix || 'Attempts'}`,
      'Delete attempts',
      'Removes rows and fence: the names are new again. Tokens are not touched.',
    ),
  };
}
