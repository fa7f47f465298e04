/**
 * Turns loose messages into a conversation that every wire format accepts. Pure.
 *
 * Invariants
 * Y1  Total: any sequence of drafts gives a conversation of this form.
 * Y2  It begins with a user message and ends with a user message or a result; two user messages never follow each
 *     other; before every answer stands a user message or a result.
 * Y3  Every call is answered directly after the answer that made it, in the order of the calls; a call without a
 *     result gets a text that says so.
 * Y4  Call ids are unique.
 * Y5  Append-only: the layout of the drafts before an answer is a prefix of the layout of all drafts.
 */
import { FreshIds } from '../model/call-ids.js';
import type { UnifiedAnswer, UnifiedCall, UnifiedMedia, UnifiedMessage, UnifiedPart } from '../model/model.js';
import { unlessBlank } from '../model/text.js';

/** The result text of a call whose result was never recorded. */
export const NO_RESULT_TEXT =
  'No result of this call was recorded. It may have happened, wholly or in part; check before you repeat it.';

/** The first message of a conversation that begins with an answer, or is empty. */
export const NO_INPUT_TEXT = '(There is no input.)';

/** The message between two consecutive answers. */
export const CONTINUE_TEXT = '(Continue.)';

/** The text of an answer without text and calls. */
export const NO_ANSWER_TEXT = '(no answer)';

const NO_OUTPUT_TEXT = '(no output)';
const EMPTY_TEXT = '(empty)';

/** A text, or an image or document. */
export type Said = string | UnifiedMedia;

/** A message before its position is decided. */
export type Draft =
  | { readonly role: 'user'; readonly says: readonly Said[] }
  | Pick<UnifiedAnswer, 'role' | 'text' | 'calls' | 'opaque'>
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
      readonly media?: readonly UnifiedMedia[];
    };

/** Options of the layout. */
interface LayOutOptions {
  /** If false, one call follows the other, each with its result. */
  readonly parallelCalls: boolean;
}

/** Lays drafts out as a conversation. */
export function layOut(drafts: Iterable<Draft>, options: LayOutOptions): UnifiedMessage[] {
  const layout = new Layout(options);
  for (const draft of drafts) layout.add(draft);
  return layout.end();
}

interface Result {
  readonly text: string;
  readonly isError: boolean;
  readonly media?: readonly UnifiedMedia[];
}

interface OpenAnswer {
  readonly draft: UnifiedAnswer;
  readonly results: (Result | undefined)[];
  /** User content that arrived while results were outstanding; it is placed after them. */
  readonly held: Said[];
}

class Layout {
  private readonly messages: UnifiedMessage[] = [];
  private readonly ids = new FreshIds();
  private open: OpenAnswer | undefined;
  /** The parts of the newest user message. */
  private saying: UnifiedPart[] = [];

  constructor(private readonly options: LayOutOptions) {}

  add(draft: Draft): void {
    if (draft.role === 'user') this.say(draft.says);
    else if (draft.role === 'tool') this.answerCall(draft);
    else this.answer(draft);
  }

  end(): UnifiedMessage[] {
    this.close();
    this.beAsked();
    return this.messages;
  }

  private say(says: readonly Said[]): void {
    if (this.open !== undefined) {
      this.open.held.push(...says);
      return;
    }
    if (says.length === 0) return;
    if (this.messages.at(-1)?.role !== 'user') {
      this.saying = [];
      this.messages.push({ role: 'user', parts: this.saying });
    }
    for (const said of says) this.saying.push(partOf(said));
  }

  private answerCall(draft: Draft & { role: 'tool' }): void {
    const { open } = this;
    const at = open?.draft.calls.findIndex((call, i) => call.callId === draft.callId && open.results[i] === undefined);
    if (open === undefined || at === undefined || at === -1) {
      this.say([`Result of an earlier call of ${draft.tool} (${draft.callId}):`, draft.text, ...(draft.media ?? [])]);
      return;
    }
    open.results[at] = draft;
    if (open.draft.calls.every((_, i) => open.results[i] !== undefined)) this.close();
  }

  private answer(draft: UnifiedAnswer): void {
    this.close();
    this.beAsked(); // Y2
    if (draft.calls.length > 0) this.open = { draft, results: [], held: [] };
    else this.messages.push({ ...saidOf(draft), text: unlessBlank(draft.text ?? '', NO_ANSWER_TEXT), calls: [] });
  }

  private beAsked(): void {
    const last = this.messages.at(-1);
    if (last === undefined) this.say([NO_INPUT_TEXT]);
    else if (last.role === 'assistant') this.say([CONTINUE_TEXT]);
  }

  /** Y3 */
  private close(): void {
    const { open } = this;
    if (open === undefined) return;
    this.open = undefined;
    const calls = open.draft.calls.map((call) => ({ ...call, callId: this.ids.take(call.callId) })); // Y4
    const said = saidOf(open.draft);
    if (this.options.parallelCalls) this.pushCalls({ ...said, calls }, open.results);
    else {
      calls.forEach((call, i) => {
        this.pushCalls({ ...(i === 0 ? said : { role: 'assistant' }), calls: [call] }, [open.results[i]]);
      });
    }
    this.say(open.held);
  }

  private pushCalls(answer: UnifiedAnswer, results: readonly (Result | undefined)[]): void {
    this.messages.push(answer, ...answer.calls.map((call, i) => resultOf(call, results[i])));
  }
}

function saidOf({ text, opaque }: UnifiedAnswer): Omit<UnifiedAnswer, 'calls'> {
  return {
    role: 'assistant',
    ...((text ?? '').trim() === '' ? {} : { text: text as string }),
    ...(opaque === undefined || opaque.length === 0 ? {} : { opaque }),
  };
}

function partOf(said: Said): UnifiedPart {
  return typeof said === 'string' ? { kind: 'text', text: unlessBlank(said, EMPTY_TEXT) } : said;
}

function resultOf({ callId }: UnifiedCall, result: Result | undefined): UnifiedMessage {
  const { text, isError, media = [] } = result ?? { text: NO_RESULT_TEXT, isError: true };
  const shown = media.length === 0 ? {} : { media };
  return { role: 'tool', callId, text: unlessBlank(text, NO_OUTPUT_TEXT), isError, ...shown };
}
