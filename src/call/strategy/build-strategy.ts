import { type Config, ownerKeyOf } from '../../../config/schema.ts';
import { schema2 } from './schema2.ts';
import { schema3 } from './schema3.ts';
import type { CaptureStrategy } from './strategy.ts';

/** The generation of the protocol that the configuration names: chosen here, once, and nowhere asked again. */
export function buildStrategy(config: Config): CaptureStrategy {
  const { schema_version, source_match } = config.capture;
  const shared = { ownerKey: ownerKeyOf(config), workerKind: config.worker.kind };
  switch (schema_version) {
    case 2:
      return schema2(shared);
    case 3:
      return schema3({
        ...shared,
        onAmbiguous: config.lineage.ambiguous,
        sourceMatch:
          source_match === null
            ? null
            : { name: source_match.name, exact: source_match.exact, emptyToolContent: source_match.empty_tool_content },
      });
    default:
      return schema_version satisfies never;
  }
}
