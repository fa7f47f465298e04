/**
 * Builds unified responses: shared by the readers of all formats.
 *
 * Invariants
 * A1  Total: any field of a provider's answer becomes valid receipt data, or a warning.
 * A2  No stored text holds a secret: every text passes through `scrub`.
 * A3  Call ids are unique within the answer and within the conversation.
 * A4  Of calls beyond the ones that are stored, only their number and their tools' names are kept.
 */

import type { OpaquePart } from '@reprise/agent';
import {
  ANSWER_CALLS_MAX,
  isTextWithin,
  isWhole,
  present,
  type Usage,
  type Value,
  wellFormed,
} from '@reprise/contracts';
import { exactJsonText, plainJson } from '@reprise/contracts/json';
import { encode, VALUE_DEPTH_MAX } from '@reprise/kernel/codec';
import { FreshIds } from '../model/call-ids.js';
import { parseBounded } from '../model/json.js';
import type { RequestedCall, UnifiedResponse } from '../model/model.js';
import type { RepeatedCalls } from '../model/profile-options.js';
import { cut } from '../model/text.js';
import { droppedOf } from './dropped-calls.js';
import { readArgs, sameArgs } from './read-args.js';
import type { Wanted } from './wanted.js';
import { keptAt } from './weave.js';

/** The deepest nesting of an item: it is stored inside the output, whose total depth the codec bounds. */
const ITEM_DEPTH_MAX = VALUE_DEPTH_MAX - 8;

/** The warning of an item, or of arguments, whose large numbers are kept as the text of their digits. */
const LARGE_NUMBERS_AS_TEXT = 'large_numbers_as_text';

/** The content of an answer, without its bytes. */
export interface ReadAnswer extends Omit<UnifiedResponse, 'request' | 'rawBody'> {
  /** A request to the client that this client cannot fulfil; the answer is then a failure. */
  readonly wanted?: Wanted;
}

/** Removes secrets from a text. */
type Scrub = (text: string) => string;

/** Inputs of a reader besides the answer itself. */
export interface AnswerAbout {
  /** Call ids of the request's history: an id of the answer that repeats one of them gets a number appended. */
  readonly idsInUse: Iterable<string>;
  /** Removes secrets that the server echoed. */
  readonly scrub: Scrub;
  /** Takes what is wrong with data that is no answer of the format, in words. */
  unread?(why: string): undefined;
  /** How repeated ids of calls are read; `once` when absent. */
  readonly repeatedCalls?: RepeatedCalls;
}

/** Collects the text, calls and opaque parts of an answer, in their order. */
export class AnswerDraft {
  /** Codes of what was dropped or changed. */
  readonly warnings: string[] = [];
  private readonly ids: FreshIds;
  private readonly opaque: OpaquePart[] = [];
  private readonly calls: RequestedCall[] = [];
  private text = '';
  private readonly dropped: { readonly tool: string }[] = [];
  /** The calls so far, by their id at the provider. */
  private readonly byId = new Map<string, Omit<RequestedCall, 'callId'>[]>();
  private wanted: Wanted | undefined;

  constructor(private readonly about: AnswerAbout) {
    this.ids = new FreshIds(about.idsInUse);
  }

  /** Whether the model requested calls. */
  get hasCalls(): boolean {
    return this.calls.length > 0;
  }

  /** Whether the answer has text. */
  get hasText(): boolean {
    return this.text !== '';
  }

  /** Records that the answer needs something this client cannot do; the first one names the failure. */
  want(wanted: Wanted): void {
    this.wanted ??= wanted;
  }

  say(text: unknown): void {
    if (typeof text === 'string') this.text += this.about.scrub(wellFormed(text));
  }

  /**
   * Adds a call; `args` is JSON text, or parsed data.
   *
   * @returns whether the call was stored
   */
  call(id: unknown, name: unknown, args: unknown): boolean {
    const { scrub } = this.about;
    const place = this.calls.length;
    const given = typeof name === 'string' ? scrub(cut(name, 128)) : '';
    const tool = given === '' ? '_' : given;
    if (place === ANSWER_CALLS_MAX) {
      this.dropped.push({ tool });
      return false;
    }
    const wanted = typeof id === 'string' ? cut(id, 128) : '';
    const { how, ...read } = readArgs(args, scrub);
    if (wanted !== '' && this.isAgain(wanted, { tool, ...read })) return false;
    const callId = this.ids.take(wanted === '' ? `call_${place}` : scrub(wanted));
    if (wanted !== '' && callId !== wanted) this.warnings.push('call_id_changed');
    if (how !== undefined) this.warnings.push(`tool_args_read:${how}`);
    if (read.largeNumbers !== undefined) this.warnings.push(LARGE_NUMBERS_AS_TEXT);
    this.calls.push({ callId, tool, ...read });
    return true;
  }

  /** Whether a call came before, and is not made again. */
  private isAgain(id: string, call: Omit<RequestedCall, 'callId'>): boolean {
    const before = this.byId.get(id) ?? [];
    const same = before.some((one) => one.tool === call.tool && sameArgs(one, call));
    this.byId.set(id, [...before, call]);
    if (before.length === 0) return false;
    const { repeatedCalls = 'once' } = this.about;
    this.warnings.push(`${same ? 'call_repeated' : 'call_id_repeated'}:${call.tool}`);
    if (repeatedCalls === 'fail') this.want('repeated_call');
    return same && repeatedCalls === 'once';
  }

  /**
   * Stores an item that only its provider can read, with its position.
   *
   * @param text the item in a form for people
   */
  keep(kind: OpaquePart['kind'], native: unknown, text?: string): void {
    const { scrub } = this.about;
    const item = canonical(scrub(wellFormed(exactJsonText(native))));
    if (item === undefined) {
      this.warnings.push(`${kind}_dropped`);
      return;
    }
    if (item.isChanged) this.warnings.push(LARGE_NUMBERS_AS_TEXT);
    this.opaque.push({
      kind,
      ...(text === undefined || text === '' ? {} : { text: scrub(wellFormed(text)) }),
      native: keptAt(item.value, { text: this.text.length, calls: this.calls.length }),
    });
  }

  /**
   * Returns the collected answer.
   *
   * @param word what the provider's end mark implies: without text and calls, the client would have to act
   */
  end(word: EndWord = 'known'): Pick<ReadAnswer, 'text' | 'calls' | 'dropped' | 'opaque' | 'warnings' | 'wanted'> {
    const silent = this.text.trim() === '' && !this.hasCalls;
    if (silent && word === 'calls') this.want(this.opaque.length === 0 ? 'calls' : 'unknown_item');
    if (silent && word === 'unknown') this.want('unknown_end');
    if (silent && word === 'none') this.want('nothing');
    const dropped = droppedOf(this.dropped);
    // A secret may have been split between two texts.
    const text = this.about.scrub(this.text);
    return {
      ...(text === '' ? {} : { text }),
      calls: this.calls,
      ...(dropped === undefined ? {} : { dropped }),
      ...(this.opaque.length === 0 ? {} : { opaque: this.opaque }),
      warnings: this.warnings,
      ...(this.wanted === undefined ? {} : { wanted: this.wanted }),
    };
  }
}

/** Reads an item as a canonical value, with texts in the place of large numbers; undefined when it has none. */
function canonical(text: string): { readonly value: Value; readonly isChanged: boolean } | undefined {
  const parsed = parseBounded(text);
  if (typeof parsed !== 'object') return undefined;
  const { data, count } = plainJson(parsed.data);
  try {
    encode(data as Value, ITEM_DEPTH_MAX);
    return { value: data as Value, isChanged: count > 0 };
  } catch {
    return undefined;
  }
}

/** Whether an end mark announces calls, is known, is unknown, or is missing. */
export type EndWord = 'calls' | 'known' | 'unknown' | 'none';

/** Classifies an end mark by a format's table of finish reasons. */
export function wordOf(given: unknown, words: Readonly<Record<string, ReadAnswer['finishReason']>>): EndWord {
  if (typeof given !== 'string' || given === '') return 'none';
  if (!Object.hasOwn(words, given)) return 'unknown';
  return words[given] === 'tool_calls' ? 'calls' : 'known';
}

/** How a provider names its answer: the answer's id and the model that gave it, as far as a receipt can store them. */
export function namesOf(
  { id, model }: { readonly id?: unknown; readonly model?: unknown },
  scrub: Scrub,
): Pick<ReadAnswer, 'providerResponseId' | 'responseModel'> {
  const [providerResponseId, responseModel] = [nameIn(id, scrub), nameIn(model, scrub)];
  return present({ providerResponseId, responseModel: responseModel === '' ? undefined : responseModel });
}

function nameIn(given: unknown, scrub: Scrub): string | undefined {
  return typeof given === 'string' && isTextWithin(given, 256) ? scrub(wellFormed(given)) : undefined;
}

/** Token counts as a provider reports them; each may be missing or invalid. */
interface Counted {
  /** All input tokens, cached or not. */
  readonly in?: unknown;
  readonly out?: unknown;
  readonly reasoning?: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
}

/** Usage in the form that receipts store. */
export function usageOf(counted: Counted): Pick<ReadAnswer, 'usage' | 'usageDetails'> {
  const usage: Usage = {
    calls: 1,
    ...count('tokens_in', counted.in),
    ...count('tokens_out', counted.out),
    ...count('tokens_cached', counted.cacheRead),
  };
  const details = {
    ...count('tokens_reasoning', counted.reasoning),
    ...count('tokens_cache_read', counted.cacheRead),
    ...count('tokens_cache_write', counted.cacheWrite),
  };
  return { usage, ...(Object.keys(details).length === 0 ? {} : { usageDetails: details }) };
}

function count<K extends string>(name: K, given: unknown): { readonly [P in K]?: number } {
  return isCount(given) ? ({ [name]: given } as { readonly [P in K]: number }) : {};
}

/** Whether a value is a valid token count. */
export function isCount(given: unknown): given is number {
  return isWhole(given);
}
