/**
 * Reads a streamed responses answer.
 *
 * Invariants
 * S1  An answer starts once; each item starts once and ends once, with the type that it started with.
 * S2  All events that hold the arguments of a call hold the same arguments, and each belongs to a call of the answer.
 * S3  An answer whose output holds no text has the text that was streamed; what was not streamed of an answer's text is
 *     shown at its end. Otherwise both are equal (`answer-reader/R3`).
 */
import { isJsonObject, sameJson } from '../model/json.js';
import { AnswerStream, type Delta, type Fields, textIn } from '../wire/answer-stream.js';

/** The most items of one answer: more than any real answer has, and few enough to keep an entry for each. */
export const ITEMS_MAX = 10_000;

/** The events that hold a piece of a text. */
const GROWS =
  /^response\.(?:output_text|refusal|reasoning_summary_text|reasoning_text|function_call_arguments)\.delta$/;

/** An item that is still growing. */
interface Growing {
  /** The type at its start; undefined when no event announced the start. */
  readonly type: string | undefined;
  /** The arguments so far, joined from the pieces. */
  args: string;
  item?: Fields;
}

/** Builds the whole answer from the events of a stream. */
export class ResponsesStream extends AnswerStream {
  private readonly places = new Map<number, Growing>();
  /** Watchers see calls and reasoning blocks by separate numbers, not by their index among all items. */
  private readonly numbers = new Map<string, number>();
  private readonly counts = { reasoning: 0, tool_args: 0, text: 0 };
  /** The texts that were streamed, by item and part. */
  private readonly shown = new Map<string, { readonly type: 'output_text' | 'refusal'; said: string }>();
  private response: Fields = {};
  private begun = false;

  protected whole(): Fields | undefined {
    const { output } = this.response;
    const items = this.itemsInOrder();
    if (items === undefined) return this.refuse('events hold different arguments for one call');
    // Some servers end with an answer whose output is empty.
    if (!Array.isArray(output) || output.length === 0) {
      const open = [...this.places.values()].some(({ item, args }) => item === undefined && args !== '');
      const told = [...this.places.values()].some(({ item, type }) => item === undefined && type === 'function_call');
      if (open || told) return this.refuse('a call is incomplete');
      return { ...this.response, output: this.withShown(items) };
    }
    const same = items.length === 0 || sameCalls(items, output);
    if (!same || !this.agrees(output)) return this.refuse('the calls at the end are not those that were streamed');
    return { ...this.response, output: this.withShown(output) };
  }

  /** The output with the text that was streamed where it holds none (S3); without a stream, its text is shown now. */
  private withShown(output: readonly unknown[]): readonly unknown[] {
    const text = textOfOutput(output);
    this.showRest(text);
    if (text !== '' || this.text === '') return output;
    this.warn('text_only_streamed');
    const content = [...this.shown.values()].map(({ type, said }) => ({
      type,
      [type === 'refusal' ? type : 'text']: said,
    }));
    const at = output.findIndex((item) => isJsonObject(item) && item.type === 'message');
    const before = at < 0 ? output.findIndex((item) => isJsonObject(item) && item.type === 'function_call') : at;
    const place = before < 0 ? output.length : before;
    return output.toSpliced(place, at < 0 ? 0 : 1, { type: 'message', role: 'assistant', content });
  }

  /** Shows what was not streamed of a text that begins as the streamed one does. */
  private showRest(text: string): void {
    if (text.length === this.text.length || !text.startsWith(this.text)) return;
    this.warn('text_not_streamed');
    this.say(text.slice(this.text.length));
  }

  private refuse(why: string): undefined {
    this.spoil(why);
  }

  get reported(): unknown {
    return this.response.usage;
  }

  protected take(event: Fields): void {
    const { delta, output_index: index } = event;
    if (typeof event.type === 'string' && GROWS.test(event.type) && typeof delta !== 'string') {
      return this.spoil('a piece holds no text');
    }
    switch (event.type) {
      case 'response.created':
        if (this.begun || this.places.size > 0) this.spoil('a second answer starts');
        this.begun = true;
        break;
      case 'response.output_item.added':
        this.begin(index, event.item);
        break;
      case 'response.output_text.delta':
        if (this.isOpen(index)) this.show('output_text', event, textIn(delta));
        break;
      case 'response.refusal.delta':
        if (this.isOpen(index)) this.show('refusal', event, textIn(delta));
        break;
      case 'response.output_text.done':
        if (this.isOpen(index)) this.showWhole('output_text', event, textIn(event.text));
        break;
      case 'response.refusal.done':
        if (this.isOpen(index)) this.showWhole('refusal', event, textIn(event.refusal));
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        if (this.isOpen(index)) this.tellPiece('reasoning', this.numberOf('reasoning', index), textIn(delta));
        break;
      case 'response.function_call_arguments.delta':
        this.takeArgs(index, (there) => this.addArgs(there, index, textIn(delta)));
        break;
      case 'response.function_call_arguments.done':
        this.takeArgs(index, (there) => this.checkArgs(there, textIn(event.arguments)));
        break;
      case 'response.output_item.done':
        this.end(index, event.item);
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.ended = isJsonObject(event.response);
        this.response = isJsonObject(event.response) ? event.response : {};
        this.keeps();
        this.over = true;
        break;
      case 'response.failed':
        this.failure = { error: { message: 'The provider failed.' }, ...withError(event.response) };
        this.over = true;
        break;
      case 'error':
        this.failure = isJsonObject(event.error) ? { error: event.error } : { error: event };
        this.over = true;
        break;
      default:
        this.takeOther(event);
    }
  }

  private show(type: 'output_text' | 'refusal', event: Fields, piece: string): void {
    const place = `${type}/${String(event.output_index)}/${String(event.content_index)}`;
    const there = this.shown.get(place) ?? { type, said: '' };
    if (!this.shown.has(place)) this.keeps();
    this.shown.set(place, there);
    there.said += piece;
    this.say(piece);
  }

  /** Takes a whole text: its pieces came before, or the rest of it is shown now (S3). */
  private showWhole(type: 'output_text' | 'refusal', event: Fields, text: string): void {
    const said = this.shown.get(`${type}/${String(event.output_index)}/${String(event.content_index)}`)?.said ?? '';
    if (text.startsWith(said)) this.show(type, event, text.slice(said.length));
    else if (text !== '') this.spoil('a text at its end is not the one that was streamed');
  }

  // S1
  private begin(index: unknown, item: unknown): void {
    if (!isPlace(index) || !isJsonObject(item)) this.spoil('an item starts without a number or a content');
    else if (this.places.has(index)) this.spoil('an item starts twice');
    else this.places.set(index, { type: textIn(item.type), args: '' });
  }

  // S1
  private end(index: unknown, item: unknown): void {
    const there = isPlace(index) ? this.places.get(index) : undefined;
    const known = there?.type === undefined || !isJsonObject(item) || there.type === item.type;
    if (!isPlace(index) || !isJsonObject(item)) return this.spoil('an item ends without a number or a content');
    if (there?.item !== undefined) return this.spoil('an item ends twice');
    if (!known) return this.spoil('an item ends as another type than it started with');
    this.keeps();
    this.places.set(index, { type: there?.type, args: there?.args ?? '', item });
  }

  /** Whether a piece may appear at this index. Some servers do not announce the start of an item. */
  private isOpen(index: unknown, type?: string): boolean {
    const there = isPlace(index) ? this.places.get(index) : undefined;
    const closed = there?.item !== undefined;
    const other = type !== undefined && there?.type !== undefined && there.type !== type;
    const nowhere = index !== undefined && !isPlace(index);
    if (closed || other || nowhere) this.spoil('a piece comes outside of its item');
    return !closed && !other && !nowhere;
  }

  /** Takes arguments of the call at an index; `whole` compares those of a call whose start was not announced (S2). */
  private takeArgs(index: unknown, take: (there: Growing) => void): void {
    if (!this.isOpen(index, 'function_call')) return;
    if (!isPlace(index)) return this.spoil('arguments come without the number of their item');
    const there = this.places.get(index) ?? { type: undefined, args: '' };
    this.places.set(index, there);
    take(there);
  }

  private addArgs(there: Growing, index: unknown, piece: string): void {
    this.tellPiece('tool_args', this.numberOf('tool_args', index), piece);
    there.args += piece;
  }

  private checkArgs(there: Growing, args: string): void {
    if (there.args === '') there.args = args;
    else if (args !== '' && !sameJson(there.args, args))
      this.spoil('the arguments of a call at its end are not those that were streamed');
  }

  /** Whether the arguments of every item that did not end are those of the call at its place in the whole answer (S2). */
  private agrees(output: readonly unknown[]): boolean {
    return [...this.places].every(([place, { item, args }]) => {
      if (item !== undefined || args === '') return true;
      const call = output[place];
      return isJsonObject(call) && call.type === 'function_call' && sameJson(textIn(call.arguments), args);
    });
  }

  /** The ended items in the order of their indexes; undefined when events contradict each other (S2). */
  private itemsInOrder(): Fields[] | undefined {
    const ordered = [...this.places].sort(([a], [b]) => a - b);
    const items: Fields[] = [];
    for (const [, { item, args }] of ordered) {
      if (item === undefined) continue;
      const said = textIn(item.arguments);
      if (item.type !== 'function_call' || args === '' || sameJson(said, args)) items.push(item);
      else if (said.trim() === '') items.push({ ...item, arguments: args });
      else return undefined;
    }
    return items;
  }

  private numberOf(channel: Delta['channel'], index: unknown): number {
    const place = `${channel}/${String(index)}`;
    const known = this.numbers.get(place);
    if (known !== undefined) return known;
    const number = this.counts[channel]++;
    this.numbers.set(place, number);
    return number;
  }
}

function isPlace(index: unknown): index is number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < ITEMS_MAX;
}

/** Whether two lists of items hold the same calls: some servers rename calls at the end. */
function sameCalls(items: readonly Fields[], output: readonly unknown[]): boolean {
  const calls = (list: readonly unknown[]) => list.filter(isJsonObject).filter(({ type }) => type === 'function_call');
  const [one, two] = [calls(items), calls(output)];
  return (
    one.length === two.length &&
    one.every((call, i) => {
      const other = two[i];
      return call.name === other?.name && sameJson(textIn(call.arguments), textIn(other?.arguments));
    })
  );
}

/** The text of an answer's messages. */
function textOfOutput(output: readonly unknown[]): string {
  const messages = output.filter(isJsonObject).filter(({ type }) => type === 'message');
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []));
  return parts
    .map((part: Fields) => `${textIn(part.text)}${part.type === 'refusal' ? textIn(part.refusal) : ''}`)
    .join('');
}

function withError(response: unknown): { readonly error?: unknown } {
  return isJsonObject(response) && isJsonObject(response.error) ? { error: response.error } : {};
}
