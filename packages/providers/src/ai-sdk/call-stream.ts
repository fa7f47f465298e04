/** A streamed answer of a language model of the AI SDK: told part by part, and put together as the whole one. */
import { wellFormed } from '@reprise/contracts';
import { isJsonObject } from '../json.js';
import { type Delta, type Fields, textIn } from '../wire/answer-stream.js';
import { reasonsOf } from './call-answer.js';
import type { Generated } from './language-model.js';

/** A text or a thought as it comes, and which of its kind it is. */
interface Growing {
  readonly number: number;
  readonly part: { readonly type: 'text' | 'reasoning'; text: string; providerMetadata?: unknown };
}

/** Puts the parts of a streamed answer together. */
export class CallStream {
  /** What the provider said in place of an answer. */
  failure: unknown;
  /** Whether an error came. */
  failed = false;
  /** What was said so far. */
  text = '';

  private readonly content: Fields[] = [];
  private readonly growing = new Map<string, Growing>();
  private readonly calls = new Map<string, number>();
  private warnings: readonly Fields[] = [];
  private response: Fields = {};
  private finish: Fields | undefined;

  constructor(private readonly tell: (delta: Delta) => void) {}

  /** Whether the provider said that this is all, and why: what ends without a reason was cut. */
  get ended(): boolean {
    if (this.finish === undefined) return false;
    const { unified, raw } = reasonsOf(this.finish.finishReason);
    return raw !== undefined || !['', 'other', 'unknown'].includes(unified);
  }

  /** The whole answer. */
  whole(): Generated {
    return {
      content: this.content,
      finishReason: this.finish?.finishReason,
      usage: this.finish?.usage,
      warnings: this.warnings,
      response: this.response,
    };
  }

  /** Takes the next part. */
  take(part: unknown): void {
    if (!isJsonObject(part)) return;
    const fields: Fields = part;
    switch (fields.type) {
      case 'stream-start':
        this.warnings = Array.isArray(fields.warnings) ? fields.warnings.filter(isJsonObject) : [];
        break;
      case 'response-metadata':
        this.response = fields;
        break;
      case 'text-start':
      case 'reasoning-start':
        this.begin(fields.type === 'text-start' ? 'text' : 'reasoning', fields);
        break;
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end':
        this.grow(fields);
        break;
      case 'tool-input-start':
        if (fields.providerExecuted !== true) this.calls.set(textIn(fields.id), this.calls.size);
        break;
      case 'tool-input-delta':
        this.tellArgs(fields);
        break;
      case 'finish':
        this.finish = fields;
        break;
      case 'error':
        this.failed = true;
        this.failure = fields.error;
        break;
      case 'tool-call':
      case 'tool-result':
      case 'file':
      case 'source':
      case 'tool-approval-request':
        if (fields.preliminary !== true) this.content.push(fields);
        break;
    }
  }

  private begin(type: Growing['part']['type'], { id, providerMetadata }: Fields): void {
    const number = type === 'text' ? 0 : this.content.filter((part) => part.type === type).length;
    const part = { type, text: '', ...(providerMetadata === undefined ? {} : { providerMetadata }) };
    this.growing.set(`${type}/${textIn(id)}`, { number, part });
    this.content.push(part);
  }

  private grow({ type, id, delta, providerMetadata }: Fields): void {
    const growing = this.growing.get(`${textIn(type).split('-')[0]}/${textIn(id)}`);
    if (growing === undefined) return;
    const { part, number } = growing;
    if (providerMetadata !== undefined) part.providerMetadata = providerMetadata;
    const piece = textIn(delta);
    part.text += piece;
    if (part.type === 'text') this.text += piece;
    this.tellPiece(part.type, number, piece);
  }

  private tellArgs({ id, delta }: Fields): void {
    const number = this.calls.get(textIn(id));
    if (number !== undefined) this.tellPiece('tool_args', number, textIn(delta));
  }

  private tellPiece(channel: Delta['channel'], index: number, piece: string): void {
    if (piece !== '') this.tell({ type: 'delta', channel, index, text: wellFormed(piece) });
  }
}
