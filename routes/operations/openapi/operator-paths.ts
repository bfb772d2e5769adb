import { attemptsQuery, callsQuery } from '../../../src/inspector/pages.ts';
import { errorResponses } from './error-responses.ts';
import { type JsonObject, queryParameters } from './json-schemas.ts';
import { ATTEMPT, jsonReply, SECURITY } from './parts.ts';

/** What operators and their machines look at. */

const operation = (operationId: string, summary: string, security: readonly JsonObject[] = SECURITY.open) => ({
  operationId,
  tags: ['Operators'],
  summary,
  security,
});

export function operatorPaths(): JsonObject {
  return {
    '/health/live': {
      get: { ...operation('Live', 'The process answers'), responses: { 200: jsonReply('It does.', 'Live') } },
    },
    '/health/ready': {
      get: {
        ...operation('Ready', 'The ledger can be asked, a worker can be reached, and the process was not told to stop'),
        responses: { 200: jsonReply('It takes calls.', 'Ready'), 503: jsonReply('Why it does not.', 'Ready') },
      },
    },
    '/metrics': {
      get: {
        ...operation('Metrics', 'Metrics for Prometheus'),
        responses: { 200: file('text/plain', 'The metrics of docs/metrics.md.') },
      },
    },
    '/openapi.json': {
      get: {
        ...operation('OpenApi', 'This document', SECURITY.control),
        responses: {
          200: { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } },
          ...errorResponses('document', 'OpenAIError'),
        },
      },
    },
    '/inspector': {
      get: {
        ...operation('Inspector', 'The page that lists attempts and draws the calls of one'),
        responses: { 200: file('text/html', 'The page. It asks for the control token.') },
      },
    },
    '/inspector/{file}': {
      parameters: [{ name: 'file', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        ...operation('InspectorFile', 'Script and style of the page'),
        responses: {
          200: { description: 'The file.', content: { 'text/javascript': {}, 'text/css': {} } },
          404: jsonReply('The page has no such file.', 'OpenAIError'),
        },
      },
    },
    '/attempts': {
      get: {
        ...operation('ListAttempts', 'Attempts by name, page by page', SECURITY.control),
        parameters: queryParameters(attemptsQuery),
        responses: { 200: jsonReply('A page.', 'AttemptsPage'), ...errorResponses('listControl', 'OpenAIError') },
      },
    },
    '/ledger/{attempt}/calls': {
      parameters: [ATTEMPT],
      get: {
        ...operation('ListCalls', "An attempt's recorded calls without texts, page by page", SECURITY.control),
        parameters: queryParameters(callsQuery),
        responses: { 200: jsonReply('A page.', 'CallsPage'), ...errorResponses('readControl', 'OpenAIError') },
      },
    },
  };
}

function file(type: string, description: string): JsonObject {
  return { description, content: { [type]: { schema: { type: 'string' } } } };
}
