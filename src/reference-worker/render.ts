import type { ChatMessage, ContentPart } from './chat-body.ts';
import { SPECIAL_TOKENS, type Tokenizer } from './tokenizer.ts';

/** Where an image or video stands in a prompt; the occurrences of `extras.media_spans` (protocol section 11, "Shapes"). Lengths in tokens. */
export interface MediaSpan {
  readonly modality: 'image' | 'video';
  readonly start: number;
  readonly length: number;
  readonly height: number;
  readonly width: number;
  readonly frames?: number;
}

export interface Rendering {
  readonly tokens: number[];
  readonly media: MediaSpan[];
}

/** What of a request shapes the prompt. */
export interface RenderInput {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly unknown[] | null | undefined;
  readonly documents?: readonly unknown[] | null | undefined;
}

export interface Renderer {
  /** e of protocol section 5; null for the stand-in without template. */
  readonly eos: number | null;
  /** A fact about the renderer: an assistant turn with content null renders as one with "". */
  readonly rendersNullAsEmpty: boolean;
  render(input: RenderInput, generationPrompt: boolean): Rendering;
}

export interface TemplateOptions {
  /** `drop_earlier`: reasoning before the last user message is not rendered, as many real templates do. */
  readonly reasoning: 'keep' | 'drop_earlier';
}

const MEDIA_TOKENS = { image: 4, video: 8 } as const;
const VIDEO_FRAMES = 2;
const DEFAULT_MEDIA_SIZE = { height: 448, width: 448 };
const ROLE_TOKENS = {
  system: SPECIAL_TOKENS.system,
  developer: SPECIAL_TOKENS.system,
  user: SPECIAL_TOKENS.user,
  assistant: SPECIAL_TOKENS.assistant,
  tool: SPECIAL_TOKENS.tool,
} as const;

/** Chat template with role markers; every message ends with e. Tools and documents stand in a system block of their own at the start. */
export function templateRenderer(tokenizer: Tokenizer, options: TemplateOptions): Renderer {
  return {
    eos: SPECIAL_TOKENS.end,
    rendersNullAsEmpty: true,
    render(input, generationPrompt) {
      const out = new Output(tokenizer);
      out.push(SPECIAL_TOKENS.begin);
      for (const prelude of [input.tools, input.documents]) {
        if (prelude == null || prelude.length === 0) continue;
        out.push(SPECIAL_TOKENS.system);
        out.text(JSON.stringify(prelude));
        out.push(SPECIAL_TOKENS.end);
      }
      const lastUser = input.messages.findLastIndex((message) => message.role === 'user');
      for (const [at, message] of input.messages.entries()) {
        const withReasoning = options.reasoning === 'keep' || at > lastUser;
        out.push(ROLE_TOKENS[message.role]);
        if (message.role === 'assistant') renderTurn(out, message, withReasoning);
        else renderContent(out, message.content, true);
        out.push(SPECIAL_TOKENS.end);
      }
      if (generationPrompt) out.push(SPECIAL_TOKENS.assistant);
      return out.rendering();
    },
  };
}

/** The stand-in without template of protocol section 12: the texts' tokens one after the other, no markers, no end token, no tools. */
export function plainRenderer(tokenizer: Tokenizer): Renderer {
  return {
    eos: null,
    rendersNullAsEmpty: true,
    render(input) {
      const out = new Output(tokenizer);
      for (const message of input.messages) {
        if (message.role !== 'assistant') {
          renderContent(out, message.content, false);
          continue;
        }
        out.text(reasoningOf(message));
        renderContent(out, message.content ?? message.refusal ?? '', false);
        for (const call of message.tool_calls ?? []) out.text(callText(call.function.name, call.function.arguments));
      }
      return out.rendering();
    },
  };
}

/** How a tool call stands in a prompt, and how the model writes it. */
export function callText(name: string, callArguments: string | null | undefined): string {
  return `${name} ${callArguments ?? '{}'}`;
}

type AssistantTurn = Extract<ChatMessage, { role: 'assistant' }>;

function reasoningOf(message: AssistantTurn): string {
  const reasoning = message.reasoning ?? message.reasoning_content ?? '';
  return reasoning.trim() === '' ? '' : reasoning;
}

function renderTurn(out: Output, message: AssistantTurn, withReasoning: boolean): void {
  const reasoning = reasoningOf(message);
  if (withReasoning && reasoning !== '') {
    out.push(SPECIAL_TOKENS.reasoning);
    out.text(reasoning);
    out.push(SPECIAL_TOKENS.reasoningEnd);
  }
  renderContent(out, message.content ?? message.refusal ?? '', true);
  for (const call of message.tool_calls ?? []) {
    out.push(SPECIAL_TOKENS.toolCall);
    out.text(callText(call.function.name, call.function.arguments));
  }
}

function renderContent(out: Output, content: string | readonly ContentPart[], mediaSpans: boolean): void {
  if (typeof content === 'string') {
    out.text(content);
    return;
  }
  for (const part of content) {
    switch (part.type) {
      case 'text':
      case 'input_text':
      case 'output_text':
        out.text(part.text);
        break;
      case 'refusal':
        out.text(part.refusal);
        break;
      case 'thinking':
        out.text(part.thinking);
        break;
      case 'image_url':
      case 'video_url':
        if (mediaSpans) out.media(part.type === 'image_url' ? 'image' : 'video', part);
        else out.text(JSON.stringify(part));
        break;
      default:
        out.text(JSON.stringify(part));
    }
  }
}

class Output {
  private readonly tokenizer: Tokenizer;
  private readonly tokens: number[] = [];
  private readonly spans: MediaSpan[] = [];

  constructor(tokenizer: Tokenizer) {
    this.tokenizer = tokenizer;
  }

  push(token: number): void {
    this.tokens.push(token);
  }

  text(text: string): void {
    for (const id of this.tokenizer.encode(text)) this.tokens.push(id);
  }

  media(modality: 'image' | 'video', part: ContentPart): void {
    const length = MEDIA_TOKENS[modality];
    const span = { modality, start: this.tokens.length, length, ...mediaSize(part) };
    this.spans.push(modality === 'video' ? { ...span, frames: VIDEO_FRAMES } : span);
    for (let at = 0; at < length; at++) this.tokens.push(SPECIAL_TOKENS.media);
  }

  rendering(): Rendering {
    return { tokens: this.tokens, media: this.spans };
  }
}

const PNG_DATA_URL = /^data:image\/png;base64,([A-Za-z0-9+/]{32,})/;

/** Size in pixels as the header of an embedded PNG tells it; a fixed size for everything else, since nothing is fetched. */
function mediaSize(part: ContentPart): { height: number; width: number } {
  const source: unknown = part.image_url;
  const url = typeof source === 'object' && source !== null && 'url' in source ? source.url : source;
  const header = typeof url === 'string' ? PNG_DATA_URL.exec(url.slice(0, 128))?.[1] : undefined;
  if (header === undefined) return DEFAULT_MEDIA_SIZE;
  const bytes = Buffer.from(header, 'base64');
  if (bytes.length < 24) return DEFAULT_MEDIA_SIZE;
  const size = { height: bytes.readUInt32BE(20), width: bytes.readUInt32BE(16) };
  return size.height > 0 && size.width > 0 ? size : DEFAULT_MEDIA_SIZE;
}
