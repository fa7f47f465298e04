/** A streamed responses answer. */
import { isJsonObject } from '../json.js';
import { AnswerStream, type Fields, textIn } from '../wire/answer-stream.js';

/** Puts the events of a streamed answer together. */
export class ResponsesStream extends AnswerStream {
  private readonly items: unknown[] = [];
  /** Calls and reasonings are told by their own numbers, not by their places among all items. */
  private readonly numbers = new Map<string, number>();
  private response: Fields = {};

  protected whole(): Fields {
    const { output } = this.response;
    // Some servers end with an answer in which nothing stands any more.
    const there = Array.isArray(output) && output.length > 0;
    return { ...this.response, output: there ? output : this.items.filter((item) => item !== undefined) };
  }

  protected take(event: Fields): void {
    const { delta, output_index: index } = event;
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.say(textIn(delta));
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.tellPiece('reasoning', this.numberOf('reasoning', index), textIn(delta));
        break;
      case 'response.function_call_arguments.delta':
        this.tellPiece('tool_args', this.numberOf('tool_args', index), textIn(delta));
        break;
      case 'response.output_item.done':
        if (typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < ITEMS_MAX) {
          this.items[index] = event.item;
        } else this.malformed = true;
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.ended = isJsonObject(event.response);
        this.response = isJsonObject(event.response) ? event.response : {};
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

  private numberOf(channel: string, index: unknown): number {
    const place = `${channel}/${String(index)}`;
    const known = this.numbers.get(place);
    if (known !== undefined) return known;
    const number = [...this.numbers.keys()].filter((key) => key.startsWith(`${channel}/`)).length;
    this.numbers.set(place, number);
    return number;
  }
}

/** More items than an answer has ever had, and few enough to hold a place for each. */
const ITEMS_MAX = 10_000;

function withError(response: unknown): { readonly error?: unknown } {
  return isJsonObject(response) && isJsonObject(response.error) ? { error: response.error } : {};
}
