import { packageVersion } from '../../../src/cli/version.ts';
import { agentPaths } from './agent-paths.ts';
import { errorComponents } from './error-responses.ts';
import { type Generation, type JsonObject, namedSchemas } from './json-schemas.ts';
import { operatorPaths } from './operator-paths.ts';
import { HEADERS, PARAMETERS, SECURITY_SCHEMES } from './parts.ts';
import { requestSchemas } from './request-bodies.ts';
import { trainerPaths } from './trainer-paths.ts';

const DESCRIPTION = `Model server between agents and the inference workers of a reinforcement-learning run. It captures calls, links
them into lineages, and serves the ledger to the trainer.

Agents use the paths under \`/ng-rollout/{attempt}/...\` (captured) and \`/v1/...\` (plain). Trainer and operators use the others,
which stand on the control port where there is one (\`control.port\`). A trailing slash makes no difference.`;

/** The OpenAPI 3.1 document of a service of this generation. Every route of the service stands in it, and nothing else (a test compares). */
export function openApiDocument(generation: Generation): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'gym-model-proxy',
      version: packageVersion(),
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'Agents: captured calls', description: 'Recorded in the ledger of the attempt.' },
      { name: 'Agents: plain calls', description: 'Converted and forwarded; nothing is recorded.' },
      { name: 'Trainer', description: 'The ledger. Needs the control token.' },
      { name: 'Operators', description: 'Health, metrics, and the inspector.' },
    ],
    paths: { ...agentPaths(), ...trainerPaths(), ...operatorPaths() },
    components: {
      schemas: { ...requestSchemas(), ...namedSchemas(generation) },
      responses: errorComponents(),
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}
