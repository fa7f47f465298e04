/**
 * Reads a streamed messages answer.
 *
 * Invariants
 * M1  A stream holds one message. It starts once, before everything else; a second start makes the stream malformed.
 * M2  A block starts once, ends once, and in between grows only by pieces of its own kind.
 */
import { isJsonObject, jsonIn } from '../model/json.js';
import { AnswerStream, type Fields, textIn } from '../wire/answer-stream.js';
import { BLOCKS_MAX } from './messages-response.js';

interface Block {
  readonly start: Fields;
  /** The block's index among the calls, or among the thinking blocks. */
  readonly number: number;
  /** The texts that grow, by the name of their field. */
  readonly grown: Record<string, string>;
  readonly citations: unknown[];
  /** The tool input as JSON text. */
  input: string;
  ended: boolean;
}

/** Which field of a block a piece extends, in which types of block, by the type of the piece. */
const GROWS: Readonly<Record<string, { readonly field: string; readonly from: string; readonly types: RegExp }>> = {
  text_delta: { field: 'text', from: 'text', types: /^text$/ },
  thinking_delta: { field: 'thinking', from: 'thinking', types: /^thinking$/ },
  signature_delta: { field: 'signature', from: 'signature', types: /./ },
  compaction_delta: { field: 'content', from: 'content', types: /^compaction$/ },
  input_json_delta: { field: '', from: 'partial_json', types: /_use$/ },
};

/** Builds the whole answer from the events of a stream. */
export class MessagesStream extends AnswerStream {
  private readonly blocks = new Map<number, Block>();
  private readonly counts = new Map<string, number>();
  private message: Fields | undefined;
  private usage: Record<string, unknown> = {};
  private readonly delta: Record<string, unknown> = {};
  private open = 0;

  protected whole(): Fields {
    const ordered = [...this.blocks].sort(([a], [b]) => a - b);
    const content = ordered.map(([, block]) => blockOf(block));
    return { ...this.message, ...this.delta, content, usage: this.usage };
  }

  get reported(): unknown {
    return this.usage;
  }

  protected take(event: Fields): void {
    switch (event.type) {
      case 'message_start':
        this.start(event.message);
        break;
      case 'content_block_start':
        this.begin(event.index, event.content_block);
        break;
      case 'content_block_delta':
        this.grow(event.index, event.delta);
        break;
      case 'content_block_stop':
        this.endBlock(event.index);
        break;
      case 'message_delta':
        this.endMessage(event);
        break;
      case 'message_stop':
        if (this.message === undefined || this.open > 0) this.spoil();
        this.ended = true;
        this.over = true;
        break;
      case 'error':
        this.failure = { error: isJsonObject(event.error) ? event.error : event };
        this.over = true;
        break;
    }
  }

  /** M1 */
  private start(message: unknown): void {
    if (this.message !== undefined || !isJsonObject(message)) {
      this.spoil();
      return;
    }
    this.keeps();
    this.message = message;
    this.count(message.usage);
  }

  private endMessage({ delta, usage }: Fields): void {
    if (this.message === undefined || this.open > 0) this.spoil();
    if (isJsonObject(delta)) Object.assign(this.delta, delta);
    this.keeps();
    this.count(usage);
  }

  /** Later counts replace earlier ones: each is a running total. */
  private count(given: unknown): void {
    if (!isJsonObject(given)) return;
    for (const [name, number] of Object.entries(given)) if (number !== null) this.usage[name] = number;
  }

  /** M2 */
  private begin(index: unknown, start: unknown): void {
    const fits = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < BLOCKS_MAX;
    const inMessage = this.message !== undefined && textIn(this.delta.stop_reason) === '';
    if (!fits || !inMessage || this.blocks.has(index) || !isJsonObject(start)) {
      this.spoil();
      return;
    }
    this.keeps();
    this.open++;
    const type = textIn(start.type);
    const number = this.counts.get(type) ?? 0;
    this.counts.set(type, number + 1);
    this.blocks.set(index, { start, number, grown: {}, citations: [], input: '', ended: false });
    if (type === 'text') this.say(textIn(start.text));
  }

  private grow(index: unknown, delta: unknown): void {
    const block = typeof index === 'number' ? this.blocks.get(index) : undefined;
    if (block === undefined || block.ended || !isJsonObject(delta)) {
      this.spoil();
      return;
    }
    if (delta.type === 'citations_delta') {
      this.keeps();
      block.citations.push(delta.citation);
    }
    const type = textIn(delta.type);
    const grows = Object.hasOwn(GROWS, type) ? GROWS[type] : undefined;
    if (grows === undefined) return;
    if (!grows.types.test(textIn(block.start.type))) this.spoil();
    else this.add(block, grows.field, textIn(delta[grows.from]));
  }

  private add(block: Block, field: string, piece: string): void {
    if (field === '') block.input += piece;
    else block.grown[field] = (block.grown[field] ?? '') + piece;
    if (field === 'text') this.say(piece);
    if (field === 'thinking') this.tellPiece('reasoning', block.number, piece);
    if (field === '' && block.start.type === 'tool_use') this.tellPiece('tool_args', block.number, piece);
  }

  private endBlock(index: unknown): void {
    const block = typeof index === 'number' ? this.blocks.get(index) : undefined;
    if (block === undefined || block.ended || saysTwice(block)) {
      this.spoil();
      return;
    }
    block.ended = true;
    this.open--;
  }
}

/** Whether a block's input came twice: whole at its start, and again in pieces. */
function saysTwice({ start, input }: Block): boolean {
  const given = isJsonObject(start.input) && Object.keys(start.input).length > 0 ? JSON.stringify(start.input) : '';
  return given !== '' && input !== '' && given !== JSON.stringify(jsonIn(input));
}

function blockOf({ start, grown, citations, input }: Block): Fields {
  const grownFields = Object.entries(grown).map(([field, text]) => [field, textIn(start[field]) + text]);
  return {
    ...start,
    ...Object.fromEntries(grownFields),
    ...(citations.length === 0 ? {} : { citations }),
    ...(input === '' ? {} : { input: inputOf(start, input) }),
  };
}

/** Keeps our own call's input as the model wrote it, JSON or not; a provider's call had JSON input. */
function inputOf({ type }: Fields, text: string): unknown {
  return type === 'tool_use' ? text : (jsonIn(text) ?? text);
}
