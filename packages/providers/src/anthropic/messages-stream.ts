/** A streamed messages answer. */
import { isJsonObject, parseJson } from '../json.js';
import { AnswerStream, type Fields, textIn } from '../wire/answer-stream.js';

interface Block {
  readonly start: Fields;
  /** Texts that grow, by the field that they stand in. */
  readonly grown: Record<string, string>;
  readonly citations: unknown[];
  /** Its input as JSON text. */
  input: string;
}

/** Which field of a block a piece continues, by the type of the piece. */
const GROWS = { text_delta: 'text', thinking_delta: 'thinking', signature_delta: 'signature' } as const;

/** More blocks than an answer has ever had, and few enough to hold a place for each. */
const BLOCKS_MAX = 10_000;

/** Puts the events of a streamed answer together. */
export class MessagesStream extends AnswerStream {
  private readonly blocks: Block[] = [];
  private message: Fields = {};
  private usage: Record<string, unknown> = {};
  private delta: Fields = {};

  protected whole(): Fields {
    const content = this.blocks.map((block) => blockOf(block)).filter((block) => block !== undefined);
    return { ...this.message, ...this.delta, content, usage: this.usage };
  }

  protected take(event: Fields): void {
    switch (event.type) {
      case 'message_start':
        if (!isJsonObject(event.message)) break;
        this.message = event.message;
        this.count(event.message.usage);
        break;
      case 'content_block_start':
        this.begin(event.index, event.content_block);
        break;
      case 'content_block_delta':
        this.grow(event.index, event.delta);
        break;
      case 'message_delta':
        if (isJsonObject(event.delta)) this.delta = event.delta;
        this.count(event.usage);
        break;
      case 'message_stop':
        this.ended = true;
        this.over = true;
        break;
      case 'error':
        this.failure = { error: isJsonObject(event.error) ? event.error : event };
        this.over = true;
        break;
    }
  }

  /** Later counts stand for all so far. */
  private count(given: unknown): void {
    if (!isJsonObject(given)) return;
    for (const [name, number] of Object.entries(given)) if (number !== null) this.usage[name] = number;
  }

  private begin(index: unknown, start: unknown): void {
    const fits = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < BLOCKS_MAX;
    if (!fits || !isJsonObject(start)) {
      this.malformed = true;
      return;
    }
    this.blocks[index] = { start, grown: {}, citations: [], input: '' };
    if (start.type === 'text') this.say(textIn(start.text));
  }

  private grow(index: unknown, delta: unknown): void {
    const block = typeof index === 'number' ? this.blocks[index] : undefined;
    if (block === undefined || !isJsonObject(delta)) {
      this.malformed = true;
      return;
    }
    if (delta.type === 'citations_delta') block.citations.push(delta.citation);
    if (delta.type === 'input_json_delta') {
      block.input += textIn(delta.partial_json);
      if (block.start.type === 'tool_use')
        this.tellPiece('tool_args', this.numberOf(block), textIn(delta.partial_json));
    }
    const field = Object.hasOwn(GROWS, String(delta.type)) ? GROWS[delta.type as keyof typeof GROWS] : undefined;
    if (field === undefined) return;
    const piece = textIn(delta[field]);
    block.grown[field] = (block.grown[field] ?? '') + piece;
    if (field === 'text') this.say(piece);
    if (field === 'thinking') this.tellPiece('reasoning', this.numberOf(block), piece);
  }

  /** Which of the calls or thoughts a block is. */
  private numberOf(block: Block): number {
    return this.blocks.filter(({ start }) => start.type === block.start.type).indexOf(block);
  }
}

function blockOf(block: Block | undefined): Fields | undefined {
  if (block === undefined) return undefined;
  const { start, grown, citations, input } = block;
  const grownFields = Object.entries(grown).map(([field, text]) => [field, textIn(start[field]) + text]);
  return {
    ...start,
    ...Object.fromEntries(grownFields),
    ...(citations.length === 0 ? {} : { citations }),
    ...(input === '' ? {} : { input: inputOf(start, input) }),
  };
}

/** A call of ours keeps what the model wrote, whether it is JSON or not; a run of the provider's was JSON. */
function inputOf({ type }: Fields, text: string): unknown {
  return type === 'tool_use' ? text : (parseJson(text) ?? text);
}
