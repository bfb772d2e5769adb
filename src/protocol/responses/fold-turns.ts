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
import { UnansweredCalls } from '../unanswered-calls.ts';

/** What one input item says, once its shape is understood. Folding looks at nothing else. */
export type InputStep = Memorable & Step;

type Step =
  | { readonly step: 'message'; readonly message: UserMessage }
  | {
      readonly step: 'assistant';
      readonly id: string | null;
      readonly text: AssistantText;
      /** The upstream message as the client sent it, where this step alone is the turn. */
      readonly verbatim?: Uint8Array | undefined;
    }
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

type TurnStep = Exclude<InputStep, { step: 'message' }>;

/** Messages of a group by the steps that it is made of. */
const GROUPS = new Memo<readonly EngineMessage[]>();

/** The steps of one assistant turn (or none) with the run of outputs behind it. */
class TurnGroup {
  private readonly steps: TurnStep[] = [];
  private readonly unanswered = new UnansweredCalls();
  private hasMessage = false;
  private hasOutput = false;

  takesMessage(): boolean {
    return this.unanswered.any || !(this.hasMessage || this.hasOutput);
  }

  takesReasoning(callFollows: boolean): boolean {
    return this.unanswered.any || (!this.hasOutput && (!this.hasMessage || callFollows));
  }

  takesCall(): boolean {
    return this.unanswered.any || !this.hasOutput;
  }

  addMessage(step: Extract<InputStep, { step: 'assistant' }>): void {
    this.steps.push(step);
    this.hasMessage = true;
  }

  addReasoning(step: Extract<InputStep, { step: 'reasoning' }>): void {
    this.steps.push(step);
  }

  addCall(step: Extract<InputStep, { step: 'call' }>): void {
    this.steps.push(step);
    this.unanswered.called(step.call.id);
  }

  addOutput(step: Extract<InputStep, { step: 'output' }>): void {
    this.steps.push(step);
    this.unanswered.answered(step.output.toolCallId);
    this.hasOutput = true;
  }

  appendTo(messages: EngineMessage[]): void {
    const [first] = this.steps;
    if (first !== undefined) messages.push(...GROUPS.of(first, this.steps, () => messagesOf(this.steps)));
  }
}

/** The messages of a group of steps. */
function messagesOf(steps: readonly TurnStep[]): EngineMessage[] {
  const texts: AssistantText[] = [];
  const reasoning: string[] = [];
  const calls: EngineToolCall[] = [];
  const ids: string[] = [];
  const unanswered = new UnansweredCalls();
  /** The outputs of each tool message to be, in order, and the last of them for each call. */
  const outputs: ToolMessage[][] = [];
  const lastOutput = new Map<string, ToolMessage[]>();
  for (const step of steps) {
    if (step.step !== 'output' && step.id !== null) ids.push(step.id);
    switch (step.step) {
      case 'assistant':
        texts.push(step.text);
        if (step.text.reasoning !== null && step.text.reasoning.trim() !== '') reasoning.push(step.text.reasoning);
        break;
      case 'reasoning':
        reasoning.push(step.text);
        break;
      case 'call':
        if (step.call.id !== '') ids.push(step.call.id);
        calls.push(step.call);
        unanswered.called(step.call.id);
        break;
      case 'output': {
        const { toolCallId } = step.output;
        const earlier = unanswered.answered(toolCallId) ? undefined : lastOutput.get(toolCallId);
        if (earlier !== undefined) {
          earlier.push(step.output);
        } else {
          const own = [step.output];
          lastOutput.set(toolCallId, own);
          outputs.push(own);
        }
        break;
      }
      default:
        step satisfies never;
    }
  }
  const images: EnginePart[] = [];
  const messages: EngineMessage[] = outputs.map((some) => toolMessage(some, images));
  const [first] = steps;
  const verbatim = steps.length === 1 && first?.step === 'assistant' ? first.verbatim : undefined;
  if (texts.length + reasoning.length + calls.length > 0)
    messages.unshift(turnOf(texts, reasoning, calls, ids, verbatim));
  if (images.length > 0) messages.push({ role: 'user', content: images });
  return messages;
}

function turnOf(
  texts: readonly AssistantText[],
  reasoning: readonly string[],
  toolCalls: readonly EngineToolCall[],
  echoedIds: readonly string[],
  verbatim: Uint8Array | undefined,
): AssistantMessage {
  const content = joinContents(texts.map((text) => text.content));
  // An empty refusal is none, as in Chat.
  const refusal = texts.map((text) => text.refusal ?? '').join('') || null;
  // A turn needs something to say: without calls and refusal, no content is the empty text (it is what Chat serves, too).
  const mustSpeak = toolCalls.length === 0 && refusal === null;
  return assistantMessage({
    content: content === null && mustSpeak ? '' : content,
    reasoning: reasoning.length === 0 ? null : reasoning.join('\n'),
    refusal,
    toolCalls,
    echoedIds,
    verbatim,
  });
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
