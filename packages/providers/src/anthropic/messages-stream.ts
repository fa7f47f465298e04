/**
 * Reads a streamed messages answer.
 *
 * Invariants
 * M1  A stream holds one message. It starts once, before everything else; a second start makes the stream malformed.
 * M2  A block starts once, ends once, and in between grows only by pieces of its own kind.
 * M3  Content stands in the start of the message or in blocks, never in both.
 */
import { exactJsonText } from '@reprise/contracts/json';
import { isJsonObject, jsonIn, sameJson } from '../model/json.js';
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
    const content = ordered.length > 0 ? ordered.map(([, block]) => blockOf(block)) : this.contentAtStart();
    return { ...this.message, ...this.delta, content, usage: this.usage };
  }

  /** The content of a message whose start holds all of it, as some gateways send it (M3). */
  private contentAtStart(): readonly unknown[] {
    const content: unknown = this.message?.content;
    return Array.isArray(content) ? content : [];
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
        this.stop();
        break;
      case 'error':
        this.failure = { error: isJsonObject(event.error) ? event.error : event };
        this.over = true;
        break;
      default:
        this.takeOther(event);
    }
  }

  /** Some gateways end a stream with the mark of another format; it ends a message that has a stop reason. */
  protected override takeDone(): void {
    if (textIn(this.delta.stop_reason) === '') return;
    this.warn('end_of_another_format');
    this.stop();
  }

  private stop(): void {
    if (this.message === undefined) this.spoil('the message ends before it starts');
    if (this.open > 0) this.spoil('the message ends inside a block');
    this.ended = true;
    this.over = true;
  }

  // M1
  private start(message: unknown): void {
    if (this.message !== undefined) return this.spoil('a second message starts');
    if (!isJsonObject(message)) return this.spoil('the start of the message holds no message');
    this.keeps();
    this.message = message;
    this.count(message.usage);
    const content = this.contentAtStart();
    if (content.length === 0) return;
    this.warn('content_at_start');
    for (const block of content) if (isJsonObject(block) && block.type === 'text') this.say(textIn(block.text));
  }

  private endMessage({ delta, usage }: Fields): void {
    if (this.message === undefined) this.spoil('the message ends before it starts');
    if (this.open > 0) this.spoil('the message ends inside a block');
    if (isJsonObject(delta)) Object.assign(this.delta, delta);
    this.keeps();
    this.count(usage);
  }

  /** Later counts replace earlier ones: each is a running total. */
  private count(given: unknown): void {
    if (!isJsonObject(given)) return;
    for (const [name, number] of Object.entries(given)) if (number !== null) this.usage[name] = number;
  }

  // M2
  private begin(index: unknown, start: unknown): void {
    const fits = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < BLOCKS_MAX;
    const inMessage = this.message !== undefined && textIn(this.delta.stop_reason) === '';
    if (!fits || !isJsonObject(start)) return this.spoil('a block starts without a number or a content');
    if (!inMessage) return this.spoil('a block starts outside of the message');
    if (this.blocks.has(index)) return this.spoil('a block starts twice');
    if (this.contentAtStart().length > 0) return this.spoil('the content comes at the start and in blocks'); // M3
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
    if (block === undefined || block.ended || !isJsonObject(delta))
      return this.spoil('a piece comes outside of its block');
    if (delta.type === 'citations_delta') {
      this.keeps();
      block.citations.push(delta.citation);
    }
    if (typeof delta.type !== 'string') return this.spoil('a piece has no type');
    const { type } = delta;
    const grows = Object.hasOwn(GROWS, type) ? GROWS[type] : undefined;
    if (grows === undefined) return;
    if (!grows.types.test(textIn(block.start.type))) this.spoil('a piece is not of the kind of its block');
    else if (typeof delta[grows.from] !== 'string') this.spoil('a piece holds no text');
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
    if (block === undefined || block.ended) return this.spoil('a block ends that is not open');
    if (saysTwice(block)) return this.spoil('the input of a call comes twice, and differs');
    block.ended = true;
    this.open--;
  }
}

/** Whether a block's input came twice: whole at its start, and again in pieces. */
function saysTwice({ start, input }: Block): boolean {
  const given = isJsonObject(start.input) && Object.keys(start.input).length > 0 ? exactJsonText(start.input) : '';
  return given !== '' && input !== '' && !sameJson(given, input);
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
