/**
 * Reads a streamed answer of a language model of the AI SDK: reports each part and builds the whole answer.
 *
 * Invariants
 * P1  A text, a reasoning block or a tool input starts before it grows, and ends once; its id may be used again
 *     afterwards.
 * P2  A streamed tool input without a call, or with a call that lacks the input, makes the answer malformed.
 */
import { wellFormed } from '@reprise/contracts';
import { isJsonObject, sameJson } from '../model/json.js';
import { type Delta, type Fields, textIn } from '../wire/answer-stream.js';
import { hasReason, reasonsOf } from './call-answer.js';
import type { Generated } from './language-model.js';

/** The most parts that are stored of one answer. */
const PARTS_MAX = 10_000;

/** The largest answer, in characters of its texts plus characters of its parts as JSON. */
const ANSWER_UNITS_MAX = 32 * 1024 * 1024;

/** A text or reasoning block that is still growing, and its index among the blocks of its type. */
interface Growing {
  readonly number: number;
  readonly part: {
    readonly type: 'text' | 'reasoning';
    text: string;
    providerMetadata?: unknown;
    citations?: unknown;
  };
}

/** A tool input that is still growing. */
interface Input {
  readonly number: number;
  /** Whether the input is plain text, which the call then holds as JSON. */
  readonly isPlain: boolean;
  text: string;
  open: boolean;
}

/** Builds the whole answer from the parts of a stream. */
export class CallStream {
  /** The error that the provider sent instead of an answer. */
  failure: unknown;
  /** Whether the provider sent an error. */
  failed = false;
  /** Whether later parts can no longer change the answer. */
  over = false;
  /** What was wrong with a part that appeared where the format does not allow it. */
  malformed: string | undefined;
  /** Whether the answer exceeded the bound on its size. */
  tooLarge = false;
  /** The text of the answer so far. */
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

  /** Whether the provider ended the answer with a reason. A stream that ends without one was cut off. */
  get ended(): boolean {
    return this.finish !== undefined && hasReason(this.finish.finishReason);
  }

  /** The whole answer, in the form of an answer without a stream. */
  whole(): Generated {
    return {
      content: this.content,
      finishReason: this.finish?.finishReason,
      usage: this.finish?.usage,
      warnings: this.warnings,
      response: this.response,
    };
  }

  /** Reads the next part. Parts after the end are ignored. */
  take(part: unknown): void {
    if (this.over || !isJsonObject(part)) return;
    const fields: Fields = part;
    if (typeof fields.type !== 'string') return this.spoil('a part has no type');
    if (fields.type.endsWith('-delta') && typeof fields.delta !== 'string') return this.spoil('a piece holds no text');
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
      case 'reasoning-file':
      case 'custom':
      case 'source':
      case 'tool-approval-request':
        if (fields.preliminary !== true) this.keep(fields);
        break;
    }
  }

  private spoil(why: string): void {
    this.malformed ??= why;
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

  // P1
  private begin(type: Growing['part']['type'], fields: Fields): void {
    const name = `${type}/${textIn(fields.id)}`;
    if (this.growing.has(name)) return this.spoil('a text starts twice');
    const { providerMetadata } = fields;
    const part = { type, text: '', ...(providerMetadata === undefined ? {} : { providerMetadata }) };
    this.growing.set(name, { number: type === 'text' ? 0 : this.counts[type]++, part });
    this.keep(part);
  }

  private grow(fields: Fields): void {
    const growing = this.growing.get(growingName(fields));
    if (growing === undefined) return this.spoil('a piece of a text comes outside of it');
    const { part, number } = growing;
    if (fields.providerMetadata !== undefined) part.providerMetadata = fields.providerMetadata;
    if (fields.citations !== undefined) part.citations = fields.citations;
    const piece = textIn(fields.delta);
    this.room(piece.length);
    part.text += piece;
    if (part.type === 'text') this.text += piece;
    this.tellPiece(part.type, number, piece);
  }

  private takeInput({ type, id, delta, providerExecuted, inputEncoding }: Fields): void {
    const name = textIn(id);
    const input = this.inputs.get(name);
    if (type === 'tool-input-start') {
      if (input?.open === true) this.spoil('the input of a call starts twice');
      // Calls of tools that the provider runs itself are reported with the call, not while their input grows.
      const number = providerExecuted === true ? -1 : this.counts.tool_args++;
      this.inputs.set(name, { number, isPlain: inputEncoding === 'text', text: '', open: true });
      return;
    }
    if (input?.open !== true) return this.spoil('a piece of an input comes outside of it');
    input.open = type === 'tool-input-delta';
    const piece = textIn(delta);
    this.room(piece.length);
    input.text += piece;
    if (input.number >= 0) this.tellPiece('tool_args', input.number, piece);
  }

  // P2
  private call(fields: Fields): void {
    const name = textIn(fields.toolCallId);
    const { text = '', isPlain = false } = this.inputs.get(name) ?? {};
    const told = isPlain ? JSON.stringify(text) : text.trim();
    const given = typeof fields.input === 'string' ? fields.input.trim() : JSON.stringify(fields.input ?? '');
    const isEmpty = (text: string) => ['', '{}', '""', 'null'].includes(text);
    this.inputs.delete(name);
    const differs = !isEmpty(told) && (isEmpty(given) || !sameJson(told, given));
    if (differs && fields.providerExecuted !== true) this.spoil('a call lacks the input that was streamed');
    else this.keep(fields);
  }

  private end(fields: Fields): void {
    this.finish = fields;
    this.over = true;
    const { unified } = reasonsOf(fields.finishReason);
    const left = [...this.inputs.values()].some(({ number }) => number >= 0);
    // An answer that was cut short may end in half a call. Any other answer with half a call is malformed.
    if (left && ['stop', 'tool-calls'].includes(unified)) this.malformed ??= 'an input was streamed without its call';
  }

  private tellPiece(channel: Delta['channel'], index: number, piece: string): void {
    if (piece !== '') this.tell({ type: 'delta', channel, index, text: wellFormed(piece) });
  }
}

function growingName({ type, id }: Fields): string {
  return `${textIn(type).split('-')[0]}/${textIn(id)}`;
}

/** Counts the size of a part; a part that JSON cannot represent counts as zero. */
function unitsOf(part: Fields): number {
  try {
    return JSON.stringify(part).length;
  } catch {
    return 0;
  }
}
