/** Messages in the form that a chat page stores, built from the chunks that the page receives. */
import type { ApprovalData, RunMetadata, UiChunk } from './chunk.js';

/** A part of a message. */
export type UiPart = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A message in the form that `useChat` stores. */
export interface UiMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly metadata?: RunMetadata;
  readonly parts: readonly UiPart[];
}

type OpenPart = { type: string } & Record<string, unknown>;

/** Builds one message from its chunks, as a page does. */
export class MessageFold {
  #metadata: RunMetadata | undefined;
  readonly #parts: OpenPart[] = [];
  /** The texts that are still growing, by the ids of their chunks. */
  readonly #texts = new Map<string, OpenPart>();

  constructor(private id: string) {}

  /** The message so far. */
  get message(): UiMessage {
    const metadata = this.#metadata === undefined ? {} : { metadata: this.#metadata };
    return { id: this.id, role: 'assistant', ...metadata, parts: this.#parts };
  }

  /** Adds the next chunk. */
  take(chunk: UiChunk): void {
    switch (chunk.type) {
      case 'start':
        this.id = chunk.messageId;
        this.#metadata = chunk.messageMetadata;
        return;
      case 'message-metadata':
      case 'finish':
        this.#metadata = chunk.messageMetadata;
        return;
      case 'start-step':
        this.#parts.push({ type: 'step-start' });
        return;
      case 'text-start':
        return this.#open(chunk.id, { type: 'text', text: '', state: 'streaming' });
      case 'reasoning-start':
        return this.#open(chunk.id, { type: 'reasoning', id: chunk.id, text: '', state: 'streaming' });
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.#texts.get(chunk.id);
        if (part !== undefined) part.text = `${part.text}${chunk.delta}`;
        return;
      }
      case 'text-end':
      case 'reasoning-end': {
        const { id, providerMetadata } = chunk;
        Object.assign(this.#texts.get(id) ?? {}, { state: 'done', ...(providerMetadata && { providerMetadata }) });
        return;
      }
      case 'tool-input-available': {
        const { toolCallId, toolName, input, dynamic } = chunk;
        const type = dynamic === true ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` };
        this.#parts.push({ ...type, toolCallId, state: 'input-available', input });
        return;
      }
      case 'tool-approval-request':
        return this.#call(chunk.toolCallId, { state: 'approval-requested', approval: { id: chunk.approvalId } });
      case 'data-approval':
        return this.#decided(chunk.id, chunk.data);
      case 'tool-output-available':
        return this.#call(chunk.toolCallId, { state: 'output-available', output: chunk.output });
      case 'tool-output-error':
        return this.#call(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
      case 'tool-output-denied':
        return this.#call(chunk.toolCallId, { state: 'output-denied' });
      case 'data-question':
      case 'data-child':
      case 'data-steer':
        return this.#data(chunk);
      case 'finish-step':
      case 'abort':
      case 'error':
        return; // these chunks change no part
    }
  }

  #open(id: string, part: OpenPart): void {
    this.#parts.push(part);
    this.#texts.set(id, part);
  }

  #call(id: string, change: Readonly<Record<string, unknown>>): void {
    Object.assign(this.#parts.findLast(({ toolCallId }) => toolCallId === id) ?? {}, change);
  }

  /** Records a decision in the part. An approval that ended without a decision leaves no trace, as in the AI SDK. */
  #decided(id: string, { toolCallId, state }: ApprovalData): void {
    if (state === 'approved' || state === 'denied') {
      this.#call(toolCallId, { state: 'approval-responded', approval: { id, approved: state === 'approved' } });
      return;
    }
    const part = this.#parts.findLast((one) => one.toolCallId === toolCallId);
    if (part === undefined) return;
    delete part.approval;
    part.state = 'input-available';
  }

  #data(chunk: UiChunk & { readonly id: string; readonly data: unknown }): void {
    const known = this.#parts.find(({ type, id }) => type === chunk.type && id === chunk.id);
    if (known === undefined) this.#parts.push({ ...chunk });
    else known.data = chunk.data;
  }
}
