import { evidenceOf } from '../../src/lineage/evidence.ts';
import type { EvidenceItem, ReasoningPolicy } from '../../src/lineage/types.ts';
import { chat } from '../../src/protocol/chat/index.ts';
import type { EngineAnswer, ReplyOptions } from '../../src/protocol/conversation.ts';
import { convertChat, engineAnswer, REPLY, UNCAPTURED } from './chat-conversion.ts';

/** How the next request relates to a served reply: `exact`, by the second digest (`empty_tool_content`), or not at all. */
export type Relation = 'exact' | 'empty_tool_content' | 'none';

export interface Exchange {
  /** Messages of the first request. */
  readonly asked: readonly object[];
  readonly answer: Partial<EngineAnswer>;
  readonly options?: Partial<ReplyOptions>;
  readonly policy?: ReasoningPolicy;
  /** The messages of the next request, given the message that was served. */
  readonly next: (served: Record<string, unknown>) => readonly object[];
}

/** Whether the messages of a next request begin with those of the first and the turn that was served (protocol section 3). */
export function relation(exchange: Exchange): Relation {
  const policy = exchange.policy ?? 'required';
  const request = convertChat({ messages: exchange.asked });
  const reply = chat.render(request, engineAnswer(exchange.answer), { ...REPLY, ...exchange.options });
  const served = JSON.parse(reply.json.toString()).choices[0].message as Record<string, unknown>;
  const recorded = [...request.messages, reply.turn].map((message) => evidenceOf(message, policy));
  const next = convertChat({ messages: exchange.next(served) }, UNCAPTURED);
  const found = next.messages.slice(0, recorded.length).map((message) => evidenceOf(message, policy));
  if (found.length < recorded.length) return 'none';
  if (recorded.every((item, at) => item.digest === found[at]?.digest)) return 'exact';
  const second = (item: EvidenceItem | undefined) => item?.emptyToolContentDigest ?? item?.digest;
  return recorded.every((item, at) => second(item) === second(found[at])) ? 'empty_tool_content' : 'none';
}
