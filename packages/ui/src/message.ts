/** Messages in the form that a chat page stores, built from the chunks that the page receives. */
import { present } from '@reprise/contracts';
import { approvalResponse } from './approvals.js';
import type { RunMetadata, UiChunk } from './chunk.js';

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

/**
 * Builds one message from its chunks, as the AI SDK's pages do, to the byte: with the same fields in the same order.
 */
export class MessageFold {
  #metadata: RunMetadata | undefined;
  readonly #parts: OpenPart[] = [];
  /** The texts that are still growing, by the ids of their chunks. */
  readonly #texts = new Map<string, OpenPart>();

  constructor(private id: string) {}

  get message(): UiMessage {
    const metadata = this.#metadata === undefined ? {} : { metadata: this.#metadata };
    return { id: this.id, ...metadata, role: 'assistant', parts: this.#parts };
  }

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
        const part = this.#texts.get(chunk.id);
        if (part === undefined) return;
        delete part.state;
        if (chunk.providerMetadata !== undefined) part.providerMetadata = chunk.providerMetadata;
        part.state = 'done';
        this.#texts.delete(chunk.id);
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
        return this.#decided(chunk);
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
    const place = this.#parts.findLastIndex(({ toolCallId }) => toolCallId === id);
    const part = this.#parts[place];
    if (part !== undefined) this.#parts[place] = callPart({ ...part, ...change });
  }

  /** Records the end of an approval in the part of its call, as `addToolApprovalResponse` does. */
  #decided(chunk: UiChunk & { readonly type: 'data-approval' }): void {
    const { toolCallId } = chunk.data;
    const part = this.#parts.findLast((one) => one.toolCallId === toolCallId);
    const asked = part?.approval as { readonly id: string } | undefined;
    if (part?.state !== 'approval-requested' || asked?.id !== chunk.id) return;
    this.#call(toolCallId, { state: 'approval-responded', approval: approvalResponse(chunk) });
  }

  #data(chunk: UiChunk & { readonly id: string; readonly data: unknown; readonly transient?: true }): void {
    if (chunk.transient === true) return;
    const known = this.#parts.find(({ type, id }) => type === chunk.type && id === chunk.id);
    if (known === undefined) this.#parts.push({ ...chunk });
    else known.data = chunk.data;
  }
}

/** The fields of a call, in the order in which the AI SDK has them. */
function callPart({ type, toolName, toolCallId, state, input, output, errorText, approval }: OpenPart): OpenPart {
  return { type, ...present({ toolName, toolCallId, state, input, output, errorText, approval }) };
}
