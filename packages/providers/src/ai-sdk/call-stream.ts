/**
 * A streamed answer of a language model of the AI SDK: told part by part, and put together as the whole one.
 *
 * Invariants
 * P1  A text, a thought and an input begin before they grow, and end once; an id may serve again after its end.
 * P2  An input that was told and ends in no call, or in a call without it, is no answer.
 */
import { wellFormed } from '@reprise/contracts';
import { isJsonObject } from '../model/json.js';
import { type Delta, type Fields, textIn } from '../wire/answer-stream.js';
import { reasonsOf } from './call-answer.js';
import type { Generated } from './language-model.js';

/** The most parts of one answer that are kept. */
const PARTS_MAX = 10_000;

/** The most that an answer may hold, in units of its texts and of its parts as JSON. */
const ANSWER_UNITS_MAX = 32 * 1024 * 1024;

/** A text or a thought as it comes, and which of its kind it is. */
interface Growing {
  readonly number: number;
  readonly part: { readonly type: 'text' | 'reasoning'; text: string; providerMetadata?: unknown };
}

/** The input of a call as it is told. */
interface Input {
  readonly number: number;
  text: string;
  open: boolean;
}

/** Puts the parts of a streamed answer together. */
export class CallStream {
  /** What the provider said in place of an answer. */
  failure: unknown;
  /** Whether an error came. */
  failed = false;
  /** Whether nothing that counts can come any more. */
  over = false;
  /** Whether a part stood where none can. */
  malformed = false;
  /** Whether more came than is read. */
  tooLarge = false;
  /** What was said so far. */
  text = '';

  private readonly content: Fields[] = [];
  private readonly growing = new Map<string, Growing>();
  private readonly inputs = new Map<string, Input>();
  private readonly counts = { text: 0, reasoning: 0, tool_args: 0 };
  private warnings: readonly Fields[] = [];
  private response: Fields = {};
  private finish: Fields | undefined;
  private units = 0;

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

  /** Takes the next part. What comes behind the end is not read. */
  take(part: unknown): void {
    if (this.over || !isJsonObject(part)) return;
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
        this.grow(fields);
        break;
      case 'text-end':
      case 'reasoning-end':
        this.grow(fields);
        this.growing.delete(growingName(fields));
        break;
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        this.takeInput(fields);
        break;
      case 'finish':
        this.end(fields);
        break;
      case 'error':
        this.failed = true;
        this.failure = fields.error;
        this.over = true;
        break;
      case 'tool-call':
        this.call(fields);
        break;
      case 'tool-result':
      case 'file':
      case 'source':
      case 'tool-approval-request':
        if (fields.preliminary !== true) this.keep(fields);
        break;
    }
  }

  private spoil(): void {
    this.malformed = true;
    this.over = true;
  }

  private room(units: number): void {
    this.units += units;
    if (this.units <= ANSWER_UNITS_MAX && this.content.length < PARTS_MAX) return;
    this.tooLarge = true;
    this.over = true;
  }

  private keep(part: Fields): void {
    this.room(unitsOf(part));
    this.content.push(part);
  }

  /** P1 */
  private begin(type: Growing['part']['type'], fields: Fields): void {
    const name = `${type}/${textIn(fields.id)}`;
    if (this.growing.has(name)) {
      this.spoil();
      return;
    }
    const { providerMetadata } = fields;
    const part = { type, text: '', ...(providerMetadata === undefined ? {} : { providerMetadata }) };
    this.growing.set(name, { number: type === 'text' ? 0 : this.counts[type]++, part });
    this.keep(part);
  }

  private grow(fields: Fields): void {
    const growing = this.growing.get(growingName(fields));
    if (growing === undefined) {
      this.spoil();
      return;
    }
    const { part, number } = growing;
    if (fields.providerMetadata !== undefined) part.providerMetadata = fields.providerMetadata;
    const piece = textIn(fields.delta);
    this.room(piece.length);
    part.text += piece;
    if (part.type === 'text') this.text += piece;
    this.tellPiece(part.type, number, piece);
  }

  private takeInput({ type, id, delta, providerExecuted }: Fields): void {
    const name = textIn(id);
    const input = this.inputs.get(name);
    if (type === 'tool-input-start') {
      if (input?.open === true) this.spoil();
      // What the provider runs itself is told with its call.
      const number = providerExecuted === true ? -1 : this.counts.tool_args++;
      this.inputs.set(name, { number, text: '', open: true });
      return;
    }
    if (input?.open !== true) {
      this.spoil();
      return;
    }
    input.open = type === 'tool-input-delta';
    const piece = textIn(delta);
    this.room(piece.length);
    input.text += piece;
    if (input.number >= 0) this.tellPiece('tool_args', input.number, piece);
  }

  /** P2 */
  private call(fields: Fields): void {
    const name = textIn(fields.toolCallId);
    const told = this.inputs.get(name)?.text.trim() ?? '';
    const given = typeof fields.input === 'string' ? fields.input.trim() : JSON.stringify(fields.input ?? '');
    const lost = ['', '{}', '""'].includes(given) && !['', '{}'].includes(told);
    this.inputs.delete(name);
    if (lost && fields.providerExecuted !== true) this.spoil();
    else this.keep(fields);
  }

  private end(fields: Fields): void {
    this.finish = fields;
    this.over = true;
    const { unified } = reasonsOf(fields.finishReason);
    const left = [...this.inputs.values()].some(({ number }) => number >= 0);
    // An answer that was cut short may end in half a call; any other that lost one is none.
    if (left && ['stop', 'tool-calls'].includes(unified)) this.malformed = true;
  }

  private tellPiece(channel: Delta['channel'], index: number, piece: string): void {
    if (piece !== '') this.tell({ type: 'delta', channel, index, text: wellFormed(piece) });
  }
}

function growingName({ type, id }: Fields): string {
  return `${textIn(type).split('-')[0]}/${textIn(id)}`;
}

/** How much a part holds; what is no JSON counts for nothing more. */
function unitsOf(part: Fields): number {
  try {
    return JSON.stringify(part).length;
  } catch {
    return 0;
  }
}
