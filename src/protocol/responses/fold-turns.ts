import { assistantMessage } from '../assistant-message.ts';
import type {
  AssistantMessage,
  EngineMessage,
  EnginePart,
  EngineToolCall,
  ToolMessage,
  UserMessage,
} from '../conversation.ts';
import { Memo, type Memorable } from '../json/memo.ts';

/** What one input item says, once its shape is understood. Folding looks at nothing else. */
export type InputStep = Memorable & Step;

type Step =
  | { readonly step: 'message'; readonly message: UserMessage }
  | { readonly step: 'assistant'; readonly id: string | null; readonly text: AssistantText }
  | { readonly step: 'reasoning'; readonly id: string | null; readonly text: string }
  | { readonly step: 'call'; readonly id: string | null; readonly call: EngineToolCall }
  /** An output as it is sent up alone; what it holds that no tool message can is still in it. */
  | { readonly step: 'output'; readonly output: ToolMessage };

export interface AssistantText {
  readonly content: string | null | readonly EnginePart[];
  readonly refusal: string | null;
  /** Thoughts that a client put among the parts; null where there are none. */
  readonly reasoning: string | null;
}

/** What stands in a tool message in the place of an image; the image follows in a user message (C19). */
export const IMAGE_PLACEHOLDER = '[image attached below]';

/**
 * Folds input items into the messages that the engine sees (protocol section 3). Adjacent assistant items become one message, up to
 * one message item. A second message item opens the next one, and so does reasoning after a message item, unless a call follows it.
 * While a call of the turn has no output yet, later assistant items join it, also those that stand behind outputs of its other
 * calls: some clients put an output right behind its call. Outputs follow their turn in the client's order; several outputs of one
 * call become one tool message, but only among the outputs of one turn, since engines reuse call ids from turn to turn.
 */
export function foldTurns(steps: readonly InputStep[]): EngineMessage[] {
  const messages: EngineMessage[] = [];
  let group: TurnGroup | null = null;
  const close = () => {
    group?.appendTo(messages);
    group = null;
  };
  /** The open group if it takes the step, else a new one. */
  const groupFor = (takes: (open: TurnGroup) => boolean): TurnGroup => {
    if (group !== null && !takes(group)) close();
    group ??= new TurnGroup();
    return group;
  };
  const callFollows = whereCallFollows(steps);
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at] as InputStep;
    switch (step.step) {
      case 'message':
        close();
        messages.push(step.message);
        break;
      case 'assistant':
        groupFor((open) => open.takesMessage()).addMessage(step);
        break;
      case 'reasoning':
        groupFor((open) => open.takesReasoning(callFollows[at] === true)).addReasoning(step);
        break;
      case 'call':
        groupFor((open) => open.takesCall()).addCall(step);
        break;
      case 'output':
        groupFor(() => true).addOutput(step);
        break;
      default:
        step satisfies never;
    }
  }
  close();
  return messages;
}

/** For each place, whether the next step that is no reasoning is a call. */
function whereCallFollows(steps: readonly InputStep[]): readonly boolean[] {
  const follows = new Array<boolean>(steps.length).fill(false);
  for (let at = steps.length - 2; at >= 0; at--) {
    const next = steps[at + 1]?.step;
    follows[at] = next === 'call' || (next === 'reasoning' && follows[at + 1] === true);
  }
  return follows;
}

/** Messages of a group by the steps that it is made of. */
const GROUPS = new Memo<readonly EngineMessage[]>();

/** One assistant turn (or none) with the run of outputs behind it. */
class TurnGroup {
  private readonly steps: InputStep[] = [];
  private readonly texts: AssistantText[] = [];
  private readonly reasoning: string[] = [];
  private readonly calls: EngineToolCall[] = [];
  private readonly ids: string[] = [];
  /** The outputs of each tool message to be, in order. */
  private readonly outputs: ToolMessage[][] = [];
  private lastOutput: Map<string, ToolMessage[]> | null = null;
  /** Calls without an output yet, by id: an id may stand for more than one. */
  private unanswered: Map<string, number> | null = null;
  private opened = false;

  takesMessage(): boolean {
    return this.waitsForOutput() || (this.texts.length === 0 && this.outputs.length === 0);
  }

  takesReasoning(callFollows: boolean): boolean {
    return this.waitsForOutput() || (this.outputs.length === 0 && (this.texts.length === 0 || callFollows));
  }

  takesCall(): boolean {
    return this.waitsForOutput() || this.outputs.length === 0;
  }

  addMessage(step: Extract<InputStep, { step: 'assistant' }>): void {
    const { text } = step;
    this.open(step);
    this.texts.push(text);
    if (text.reasoning !== null && text.reasoning.trim() !== '') this.reasoning.push(text.reasoning);
  }

  addReasoning(step: Extract<InputStep, { step: 'reasoning' }>): void {
    this.open(step);
    this.reasoning.push(step.text);
  }

  addCall(step: Extract<InputStep, { step: 'call' }>): void {
    const { call } = step;
    this.open(step);
    if (call.id !== '') this.ids.push(call.id);
    this.calls.push(call);
    this.unanswered ??= new Map();
    this.unanswered.set(call.id, (this.unanswered.get(call.id) ?? 0) + 1);
  }

  addOutput(step: Extract<InputStep, { step: 'output' }>): void {
    const { output } = step;
    this.steps.push(step);
    const callId = output.toolCallId;
    const waiting = this.unanswered?.get(callId) ?? 0;
    const earlier = waiting === 0 ? this.lastOutput?.get(callId) : undefined;
    if (earlier !== undefined) {
      earlier.push(output);
      return;
    }
    if (waiting > 1) this.unanswered?.set(callId, waiting - 1);
    else this.unanswered?.delete(callId);
    const outputs = [output];
    this.lastOutput ??= new Map();
    this.lastOutput.set(callId, outputs);
    this.outputs.push(outputs);
  }

  appendTo(messages: EngineMessage[]): void {
    const [first] = this.steps;
    if (first !== undefined) messages.push(...GROUPS.of(first, this.steps, () => this.messages()));
  }

  private messages(): EngineMessage[] {
    const images: EnginePart[] = [];
    const messages: EngineMessage[] = this.outputs.map((outputs) => toolMessage(outputs, images));
    if (this.opened) messages.unshift(this.turn());
    if (images.length > 0) messages.push({ role: 'user', content: images });
    return messages;
  }

  private open(step: Exclude<InputStep, { step: 'message' | 'output' }>): void {
    this.opened = true;
    this.steps.push(step);
    if (step.id !== null) this.ids.push(step.id);
  }

  private waitsForOutput(): boolean {
    return this.unanswered !== null && this.unanswered.size > 0;
  }

  private turn(): AssistantMessage {
    const content = joinContents(this.texts.map((text) => text.content));
    // An empty refusal is none, as in Chat.
    const refusal = this.texts.map((text) => text.refusal ?? '').join('') || null;
    // A turn needs something to say: without calls and refusal, no content is the empty text (it is what Chat serves, too).
    const mustSpeak = this.calls.length === 0 && refusal === null;
    return assistantMessage({
      content: content === null && mustSpeak ? '' : content,
      reasoning: this.reasoning.length === 0 ? null : this.reasoning.join('\n'),
      refusal,
      toolCalls: this.calls,
      echoedIds: this.ids,
    });
  }
}

function joinContents(contents: readonly AssistantText['content'][]): AssistantText['content'] {
  const present = contents.filter((content) => content !== null);
  if (present.length === 0) return null;
  if (present.every((content) => typeof content === 'string')) return present.join('');
  return present.flatMap(asParts);
}

/** The tool message of a call's outputs; engines take no media in it, so images go to `images` and leave a placeholder. */
function toolMessage(outputs: readonly ToolMessage[], images: EnginePart[]): ToolMessage {
  const [first] = outputs as [ToolMessage];
  if (outputs.length === 1 && (first.textNode !== undefined || typeof first.content === 'string')) return first;
  const texts = outputs
    .flatMap((output) => asParts(output.content))
    .map((part): EnginePart => {
      if (part.type === 'text') return part;
      images.push(part);
      return { type: 'text', text: IMAGE_PLACEHOLDER };
    });
  return { role: 'tool', content: plainContent(texts), toolCallId: first.toolCallId };
}

/** One text part is its string, no part at all the empty one; every other list stays a list. */
export function plainContent(parts: readonly EnginePart[]): string | readonly EnginePart[] {
  if (parts.length === 0) return '';
  const only = parts[0] as EnginePart;
  return parts.length === 1 && only.type === 'text' ? only.text : parts;
}

export function asParts(content: string | readonly EnginePart[]): readonly EnginePart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
