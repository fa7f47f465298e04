/**
 * The content of operations as the opt-in attributes of the conventions: what was said to a model, what it answered, arguments
 * and results of calls. Read only where a user asks for it.
 *
 * Invariants
 * F1  Every text passes the scrubber before it is cut, so that no beginning of a secret is left at the end of a cut.
 * F2  An attribute has at most {@link CONTENT_BYTES_MAX} bytes; of messages the newest are kept.
 * F3  Content that was erased, or is not in the store, is named as such: it ends no export.
 */
import type { LlmOutput, TranscriptItem } from '@reprise/agent/contracts';
import {
  type InputPart,
  isRepriseError,
  type Ref,
  requireFields,
  requireMethods,
  toHex,
  utf8Length,
  type Value,
} from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getBytes, getValue, readLog, type Scrubber } from '@reprise/kernel/store';
import { ATTRIBUTES } from '../names/conventions.js';
import type { Span, SpanAttribute, SpanContent } from '../trace/span.js';

/** The bytes of one attribute with content: a backend stores each span whole, and many cut or refuse larger ones. */
const CONTENT_BYTES_MAX = 64 * 1024;

/** Reads the content of spans. */
export interface ContentSource {
  /** The content of the world, such as `world.kernel.content`, or that of a store that is open for reading. */
  readonly reader: ContentReader;
  /** Removes secrets from every text. */
  readonly scrubber?: Scrubber | undefined;
}

type Part = Readonly<Record<string, unknown>>;
interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

/** The span with the attributes that its content gives, and without its links to content. */
export async function withContent(span: Span, source: ContentSource): Promise<Span> {
  requireFields(span, 'withContent(span)', 'a span');
  requireFields(span.content, 'withContent(span)', 'a span, with the links of its content');
  requireFields(source, 'withContent(source)', 'an object with a reader of content');
  requireMethods(source.reader, ['get'], 'withContent(source.reader)', 'the content of a world');
  const filled = await new Filler(source).attributes(span);
  return { ...span, attributes: { ...span.attributes, ...filled }, content: {} };
}

class Filler {
  constructor(private readonly source: ContentSource) {}

  async attributes({ content, attributes }: Span): Promise<Record<string, SpanAttribute>> {
    const { prompt, output, args, result } = content;
    const filled: Record<string, SpanAttribute> = {};
    if (prompt !== undefined) {
      const text = await this.#text(prompt.system);
      filled[ATTRIBUTES.systemInstructions] = jsonOf([{ type: 'text', content: text }], CONTENT_BYTES_MAX);
      filled[ATTRIBUTES.inputMessages] = newest(await this.#conversation(prompt));
    }
    if (output !== undefined) {
      const finish = attributes[ATTRIBUTES.responseFinishReasons];
      const reason = Array.isArray(finish) ? String(finish[0]) : 'stop';
      filled[ATTRIBUTES.outputMessages] = newest([{ ...(await this.#output(output)), finish_reason: reason }]);
    }
    if (args !== undefined) filled[ATTRIBUTES.toolCallArguments] = jsonOf(await this.#value(args), CONTENT_BYTES_MAX);
    if (result !== undefined) filled[ATTRIBUTES.toolCallResult] = cut(await this.#text(result), CONTENT_BYTES_MAX);
    return filled;
  }

  async #conversation({ head, from, to }: NonNullable<SpanContent['prompt']>): Promise<readonly Message[]> {
    const messages: Message[] = [];
    try {
      let at = from;
      for await (const item of readLog(this.source.reader, head, from)) {
        if (to !== undefined && at++ >= to) break;
        // The session's log schema checked each item before it was appended.
        messages.push(await this.#message(item as unknown as TranscriptItem));
      }
    } catch (error) {
      messages.push({ role: 'user', parts: [{ type: 'text', content: lost(error) }] });
    }
    return messages;
  }

  async #message(item: TranscriptItem): Promise<Message> {
    switch (item.role) {
      case 'user':
        return { role: 'user', parts: await Promise.all(item.parts.map((part) => this.#part(part))) };
      case 'assistant':
        return this.#output(item.output_ref);
      default: {
        const { call_id, output_ref } = item;
        const response = output_ref === undefined ? rest(item) : await this.#text(output_ref);
        return {
          role: 'tool',
          parts: [{ type: 'tool_call_response', id: call_id, response: this.#scrubbed(response) }],
        };
      }
    }
  }

  async #output(ref: Ref): Promise<Message> {
    const output = (await this.#value(ref)) as unknown;
    if (typeof output === 'string') return { role: 'assistant', parts: [{ type: 'text', content: output }] };
    // The adapter that stored it wrote this shape.
    const { text, tool_calls = [] } = output as LlmOutput;
    const calls = tool_calls.map(({ call_id, tool, args }) => ({
      ...{ type: 'tool_call', id: call_id, name: tool, arguments: plain(args) },
    }));
    return {
      role: 'assistant',
      parts: [...(text === undefined || text === '' ? [] : [{ type: 'text', content: text }]), ...calls],
    };
  }

  async #part(part: InputPart): Promise<Part> {
    if (part.kind === 'text') return { type: 'text', content: await this.#text(part.text_ref) };
    if (part.kind === 'result') return { type: 'result', child: part.child };
    const [modality = 'document'] = part.media_type.split('/');
    return { type: 'file', mime_type: part.media_type, modality, file_id: part.blob_ref.toString() };
  }

  async #text(ref: Ref): Promise<string> {
    try {
      const bytes = await getBytes(this.source.reader, ref);
      return this.#scrubbed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    } catch (error) {
      return lost(error);
    }
  }

  async #value(ref: Ref): Promise<unknown> {
    try {
      return this.#scrubbed(plain(await getValue(this.source.reader, ref)));
    } catch (error) {
      return lost(error);
    }
  }

  #scrubbed<T>(value: T): T {
    return this.source.scrubber?.value(value) ?? value;
  }
}

/** What the answer to a call says that has no text. */
function rest(item: Exclude<TranscriptItem, { readonly role: 'user' | 'assistant' }>): unknown {
  if (item.role === 'late') return item.status;
  const { answer, children, non_execution } = item;
  return plain((answer?.value ?? children ?? non_execution ?? null) as Value);
}

/** A value with links as texts and bytes as hex digits: what JSON can say. */
function plain(value: Value): unknown {
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return (value as readonly Value[]).map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('hex' in value && typeof value.hex === 'string' && Object.getPrototypeOf(value) !== Object.prototype)
    return String(value);
  return Object.fromEntries(Object.entries(value as Readonly<Record<string, Value>>).map(([k, v]) => [k, plain(v)]));
}

/** The newest messages that fit, as JSON. */
function newest(messages: readonly Message[]): string {
  const kept: string[] = [];
  let bytes = 2;
  for (const message of [...messages].reverse()) {
    const text = jsonOf(message, CONTENT_BYTES_MAX - bytes - 1);
    bytes += utf8Length(text) + 1;
    if (bytes > CONTENT_BYTES_MAX) break;
    kept.unshift(text);
  }
  return `[${kept.join(',')}]`;
}

/** A value as JSON; one that is too large is replaced by its beginning, as a text. */
function jsonOf(value: unknown, bytesMax: number): string {
  const text = JSON.stringify(value) ?? 'null';
  if (utf8Length(text) <= bytesMax) return text;
  // The quotes, and each character of the text that has to be escaped in it.
  return JSON.stringify(cut(text, Math.floor(bytesMax / 2) - 2));
}

/** The beginning of a text that has at most so many bytes. */
function cut(text: string, bytesMax: number): string {
  if (utf8Length(text) <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text).subarray(0, Math.max(0, bytesMax));
  return new TextDecoder().decode(bytes).replace(/\ufffd$/, '');
}

function lost(error: unknown): string {
  return isRepriseError(error) ? `[${error.code}]` : '[unreadable]';
}
