/**
 * Reads a streamed responses answer.
 *
 * Invariants
 * S1  An answer starts once; each item starts once and ends once, with the type that it started with.
 * S2  All events that hold the arguments of a call hold the same arguments, and each belongs to a call of the answer.
 */
import { isJsonObject, jsonIn } from '../model/json.js';
import { AnswerStream, type Delta, type Fields, textIn } from '../wire/answer-stream.js';

/** The most items of one answer: more than any real answer has, and few enough to keep an entry for each. */
export const ITEMS_MAX = 10_000;

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
  private response: Fields = {};
  private begun = false;

  protected whole(): Fields | undefined {
    const { output } = this.response;
    const items = this.itemsInOrder();
    if (items === undefined) return undefined;
    // Some servers end with an answer whose output is empty.
    if (!Array.isArray(output) || output.length === 0) {
      const open = [...this.places.values()].some(({ item }) => item === undefined);
      return open ? undefined : { ...this.response, output: items };
    }
    const same = items.length === 0 || sameCalls(items, output);
    return same && this.agrees(output) ? this.response : undefined;
  }

  get reported(): unknown {
    return this.response.usage;
  }

  protected take(event: Fields): void {
    const { delta, output_index: index } = event;
    switch (event.type) {
      case 'response.created':
        if (this.begun || this.places.size > 0) this.spoil();
        this.begun = true;
        break;
      case 'response.output_item.added':
        this.begin(index, event.item);
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        if (this.isOpen(index)) this.say(textIn(delta));
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
    }
  }

  /** S1 */
  private begin(index: unknown, item: unknown): void {
    if (!isPlace(index) || this.places.has(index) || !isJsonObject(item)) this.spoil();
    else this.places.set(index, { type: textIn(item.type), args: '' });
  }

  /** S1 */
  private end(index: unknown, item: unknown): void {
    const there = isPlace(index) ? this.places.get(index) : undefined;
    const known = there?.type === undefined || !isJsonObject(item) || there.type === item.type;
    if (!isPlace(index) || there?.item !== undefined || !known || !isJsonObject(item)) {
      this.spoil();
      return;
    }
    this.keeps();
    this.places.set(index, { type: there?.type, args: there?.args ?? '', item });
  }

  /** Whether a piece may appear at this index. Some servers do not announce the start of an item. */
  private isOpen(index: unknown, type?: string): boolean {
    const there = isPlace(index) ? this.places.get(index) : undefined;
    const closed = there?.item !== undefined;
    const other = type !== undefined && there?.type !== undefined && there.type !== type;
    const nowhere = index !== undefined && !isPlace(index);
    if (closed || other || nowhere) this.spoil();
    return !closed && !other && !nowhere;
  }

  /** Takes arguments of the call at an index; `whole` compares those of a call whose start was not announced (S2). */
  private takeArgs(index: unknown, take: (there: Growing) => void): void {
    if (!this.isOpen(index, 'function_call')) return;
    if (!isPlace(index)) {
      this.spoil();
      return;
    }
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
    else if (args !== '' && !sameText(there.args, args)) this.spoil();
  }

  /** Whether the arguments of every item that did not end are those of the call at its place in the whole answer (S2). */
  private agrees(output: readonly unknown[]): boolean {
    return [...this.places].every(([place, { item, args }]) => {
      if (item !== undefined || args === '') return true;
      const call = output[place];
      return isJsonObject(call) && call.type === 'function_call' && sameText(textIn(call.arguments), args);
    });
  }

  /** The ended items in the order of their indexes; undefined when events contradict each other (S2). */
  private itemsInOrder(): Fields[] | undefined {
    const ordered = [...this.places].sort(([a], [b]) => a - b);
    const items: Fields[] = [];
    for (const [, { item, args }] of ordered) {
      if (item === undefined) continue;
      const said = textIn(item.arguments);
      if (item.type !== 'function_call' || args === '' || sameText(said, args)) items.push(item);
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
      return call.name === other?.name && sameText(textIn(call.arguments), textIn(other?.arguments));
    })
  );
}

/** Whether two texts are equal, or are equal as JSON. */
function sameText(one: string, two: string): boolean {
  if (one === two) return true;
  const [first, second] = [jsonIn(one), jsonIn(two)];
  return first !== undefined && JSON.stringify(first) === JSON.stringify(second);
}

function withError(response: unknown): { readonly error?: unknown } {
  return isJsonObject(response) && isJsonObject(response.error) ? { error: response.error } : {};
}
