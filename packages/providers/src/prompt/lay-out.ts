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
 * Y6  Steady drafts give steady messages: the same drafts in the same positions give the same objects.
 */
import { type Marked, notice, own, party, said } from '@reprise/contracts';
import { FreshIds } from '../model/call-ids.js';
import type { UnifiedAnswer, UnifiedMedia, UnifiedMessage, UnifiedPart } from '../model/model.js';
import { Derived, steady } from '../model/steady.js';
import { unlessBlank } from '../model/text.js';

/** The result text of a call whose result was never recorded. */
export const NO_RESULT_TEXT = notice(
  own`No result of this call was recorded. It may have happened, wholly or in part; check before you repeat it.`,
);

/** The first message of a conversation that begins with an answer, or is empty. */
export const NO_INPUT_TEXT = notice(own`There is no input.`);

/** The message between two consecutive answers. */
export const CONTINUE_TEXT = notice(own`Continue.`);

/** The text of an answer without text and calls. */
export const NO_ANSWER_TEXT = '(no answer)';

const NO_OUTPUT_TEXT = own`(no output)`;
const EMPTY_TEXT = own`(empty)`;

/** A text in which the words of each party are marked, or an image or document. */
export type Said = Marked | UnifiedMedia;

/** A message before its position is decided. */
export type Draft =
  | { readonly role: 'user'; readonly says: readonly Said[] }
  | Pick<UnifiedAnswer, 'role' | 'text' | 'calls' | 'opaque'>
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly tool: string;
      readonly text: Marked;
      readonly isError: boolean;
      readonly media?: readonly UnifiedMedia[];
    };

interface LayOutOptions {
  /** If false, one call follows the other, each with its result. */
  readonly parallelCalls: boolean;
}

/** A conversation, and for each of its messages the places of its drafts among all; null for the layout's own. */
interface LaidOut {
  readonly messages: UnifiedMessage[];
  readonly sources: readonly (readonly (number | null)[])[];
}

/** Lays drafts out as a conversation, and says from which drafts each message comes. One draft may stand in several places. */
export function layOut(drafts: Iterable<Draft>, options: LayOutOptions): LaidOut {
  const layout = new Layout(options);
  let at = 0;
  for (const draft of drafts) layout.add(draft, at++);
  return layout.end();
}

type UserDraft = Draft & { readonly role: 'user' };
type ToolDraft = Draft & { readonly role: 'tool' };

/** Messages by the drafts that they consist of (Y6). */
const sayings = new Derived<UnifiedMessage>();
const answers = new Derived<UnifiedAnswer>();
const results = new Derived<UnifiedMessage>();
const strays = new Derived<UserDraft>();

const NO_INPUT: UserDraft = steady({ role: 'user', says: [NO_INPUT_TEXT] });
const CONTINUE: UserDraft = steady({ role: 'user', says: [CONTINUE_TEXT] });

/** A draft and its place among all drafts. */
interface Placed<D extends Draft> {
  readonly draft: D;
  readonly at: number | null;
}

interface OpenAnswer extends Placed<UnifiedAnswer> {
  readonly results: (Placed<ToolDraft> | undefined)[];
  /** User content that arrived while results were outstanding; it is placed after them. */
  readonly held: Placed<UserDraft>[];
}

class Layout {
  private readonly messages: UnifiedMessage[] = [];
  private readonly sources: (readonly (number | null)[])[] = [];
  private readonly ids = new FreshIds();
  private open: OpenAnswer | undefined;
  /** The drafts of the newest user message, which is added to the messages when it is complete. */
  private saying: Placed<UserDraft>[] = [];

  constructor(private readonly options: LayOutOptions) {}

  add(draft: Draft, at: number): void {
    if (draft.role === 'user') this.say({ draft, at });
    else if (draft.role === 'tool') this.answerCall({ draft, at });
    else this.answer({ draft, at });
  }

  end(): LaidOut {
    this.close();
    this.beAsked();
    this.endSaying();
    return { messages: this.messages, sources: this.sources };
  }

  private say(placed: Placed<UserDraft>): void {
    if (this.open !== undefined) this.open.held.push(placed);
    else if (placed.draft.says.length > 0) this.saying.push(placed);
  }

  private endSaying(): void {
    const all = this.saying.map(({ draft }) => draft);
    const [first, ...others] = all;
    if (first === undefined) return;
    this.sources.push(this.saying.map(({ at }) => at));
    this.saying = [];
    this.messages.push(
      sayings.of(first, others, '', () => ({ role: 'user', parts: all.flatMap(({ says }) => says.map(partOf)) })),
    );
  }

  private answerCall(placed: Placed<ToolDraft>): void {
    const { open } = this;
    const { draft } = placed;
    const at = open?.draft.calls.findIndex((call, i) => call.callId === draft.callId && open.results[i] === undefined);
    if (open === undefined || at === undefined || at === -1) {
      this.say({ draft: strays.of(draft, [], '', () => strayOf(draft)), at: placed.at });
      return;
    }
    open.results[at] = placed;
    if (open.draft.calls.every((_, i) => open.results[i] !== undefined)) this.close();
  }

  private answer({ draft, at }: Placed<UnifiedAnswer>): void {
    this.close();
    this.beAsked(); // Y2
    if (draft.calls.length > 0) this.open = { draft, at, results: [], held: [] };
    else
      this.push(
        answers.of(draft, [], '', () => spokenAnswer(draft)),
        at,
      );
  }

  private beAsked(): void {
    if (this.saying.length > 0) return;
    const last = this.messages.at(-1);
    if (last === undefined) this.say({ draft: NO_INPUT, at: null });
    else if (last.role === 'assistant') this.say({ draft: CONTINUE, at: null });
  }

  // Y3
  private close(): void {
    const { open } = this;
    if (open === undefined) return;
    this.open = undefined;
    const { draft, at } = open;
    const ids = draft.calls.map(({ callId }) => this.ids.take(callId)); // Y4
    if (this.options.parallelCalls) {
      const named = (): UnifiedAnswer => ({
        ...saidOf(draft),
        calls: draft.calls.map((call, i) => ({ ...call, callId: ids[i] ?? call.callId })),
      });
      this.pushCalls(answers.of(draft, [], JSON.stringify(ids), named), at, open.results);
    } else {
      draft.calls.forEach((call, i) => {
        const callId = ids[i] ?? call.callId;
        const single = answers.of(draft, [], `${i} ${callId}`, () => ({
          ...(i === 0 ? saidOf(draft) : { role: 'assistant' }),
          calls: [{ ...call, callId }],
        }));
        this.pushCalls(single, at, [open.results[i]]);
      });
    }
    for (const held of open.held) this.say(held);
  }

  private pushCalls(answer: UnifiedAnswer, at: number | null, given: readonly (Placed<ToolDraft> | undefined)[]): void {
    this.push(answer, at);
    answer.calls.forEach(({ callId }, i) => {
      const result = given[i];
      this.push(
        result === undefined
          ? resultOf(callId, undefined)
          : results.of(result.draft, [], callId, () => resultOf(callId, result.draft)),
        result?.at ?? null,
      );
    });
  }

  /** Adds a message after the user message that stands before it. */
  private push(message: UnifiedMessage, at: number | null): void {
    this.endSaying();
    this.messages.push(message);
    this.sources.push([at]);
  }
}

function spokenAnswer(draft: UnifiedAnswer): UnifiedAnswer {
  return { ...saidOf(draft), text: unlessBlank(draft.text ?? '', NO_ANSWER_TEXT), calls: [] };
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

/** A result without a call, as a note in its place. */
function strayOf({ tool, callId, text, media = [] }: ToolDraft): UserDraft {
  return { role: 'user', says: [said(party`earlier call ${callId} of tool: ${tool}`, text), ...media] };
}

function resultOf(callId: string, result: ToolDraft | undefined): UnifiedMessage {
  const { text, isError, media = [] } = result ?? { text: NO_RESULT_TEXT, isError: true };
  const shown = media.length === 0 ? {} : { media };
  return { role: 'tool', callId, text: unlessBlank(text, NO_OUTPUT_TEXT), isError, ...shown };
}
