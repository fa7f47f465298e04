/**
 * What the readers of all formats share: putting together what a model said, in the terms of the unified response.
 *
 * Invariants
 * A1  Total: whatever a provider puts into a field becomes something that a receipt takes, or a warning.
 * A2  Nothing that is kept holds a secret: every text goes through `scrub`.
 * A3  Call ids are unique among themselves and in the conversation.
 * A4  Of a call beyond those that are kept nothing is kept but that it was asked for, and of which tool.
 */

import type { OpaquePart } from '@reprise/agent';
import type { Usage, Value } from '@reprise/contracts';
import { ANSWER_CALLS_MAX, wellFormed } from '@reprise/contracts';
import { encode, VALUE_DEPTH_MAX } from '@reprise/kernel';
import { FreshIds } from '../model/call-ids.js';
import { parseBounded } from '../model/json.js';
import type { RequestedCall, UnifiedResponse } from '../model/model.js';
import { cut } from '../model/text.js';
import { droppedOf } from './dropped-calls.js';
import type { Wanted } from './wanted.js';
import { keptAt } from './weave.js';

/** How deep arguments may nest: they are kept inside the output's own levels, which have to fit the codec's. */
const ARGS_DEPTH_MAX = VALUE_DEPTH_MAX - 8;

/** What an answer says, without the bytes around it. */
export interface ReadAnswer extends Omit<UnifiedResponse, 'request' | 'rawBody'> {
  /** What in it only the client can answer, and this one cannot: it is no answer then. */
  readonly wanted?: Wanted;
}

/** Removes secrets from a text. */
export type Scrub = (text: string) => string;

/** What a reader of answers is told besides the answer. */
export interface AnswerAbout {
  /** Call ids of the request's history: an id of the answer that is among them gets a number. */
  readonly idsInUse: Iterable<string>;
  /** Removes secrets that the endpoint echoed. */
  readonly scrub: Scrub;
}

/** What was said, called and kept of an answer, in the order in which it stands in it. */
export class AnswerDraft {
  /** What was dropped or changed. */
  readonly warnings: string[] = [];
  private readonly ids: FreshIds;
  private readonly opaque: OpaquePart[] = [];
  private readonly calls: RequestedCall[] = [];
  private text = '';
  private readonly dropped: { readonly tool: string }[] = [];
  private wanted: Wanted | undefined;

  constructor(private readonly about: AnswerAbout) {
    this.ids = new FreshIds(about.idsInUse);
  }

  /** Whether a model asked for calls. */
  get hasCalls(): boolean {
    return this.calls.length > 0;
  }

  /** Whether it says anything. */
  get hasText(): boolean {
    return this.text !== '';
  }

  /** Something asks the client for what this one cannot give; the first such thing names the failure. */
  want(wanted: Wanted): void {
    this.wanted ??= wanted;
  }

  /** Adds to the text. */
  say(text: unknown): void {
    if (typeof text === 'string') this.text += this.about.scrub(wellFormed(text));
  }

  /**
   * Adds a call; `args` is JSON text, or data already parsed.
   *
   * @returns whether it is kept
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
    const callId = this.ids.take(wanted === '' ? `call_${place}` : scrub(wanted));
    if (wanted !== '' && callId !== wanted) this.warnings.push('call_id_changed');
    this.calls.push({ callId, tool, ...readArgs(args, scrub) });
    return true;
  }

  /**
   * Keeps what only the provider reads back, at its place.
   *
   * @param text as a person reads it
   */
  keep(kind: OpaquePart['kind'], native: unknown, text?: string): void {
    const { scrub } = this.about;
    const item = canonical(scrub(wellFormed(JSON.stringify(native) ?? '')));
    if (item === undefined) {
      this.warnings.push(`${kind}_dropped`);
      return;
    }
    this.opaque.push({
      kind,
      ...(text === undefined || text === '' ? {} : { text: scrub(wellFormed(text)) }),
      native: keptAt(item, { text: this.text.length, calls: this.calls.length }),
    });
  }

  /**
   * What it came to.
   *
   * @param word how the provider ended it: where nothing was said and none called, the client is to do something
   */
  end(word: EndWord = 'known'): Pick<ReadAnswer, 'text' | 'calls' | 'dropped' | 'opaque' | 'warnings' | 'wanted'> {
    const silent = this.text.trim() === '' && !this.hasCalls;
    if (silent && word === 'calls') this.want(this.opaque.length === 0 ? 'calls' : 'unknown_item');
    if (silent && word === 'unknown') this.want('unknown_end');
    const dropped = droppedOf(this.dropped);
    // Two stretches may have been halves of a secret.
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

/** Arguments as data; when they are no JSON object, what the model wrote and why it cannot run. */
function readArgs(given: unknown, scrub: Scrub): Pick<RequestedCall, 'args' | 'issue'> {
  const written = wellFormed(typeof given === 'string' ? given : (JSON.stringify(given) ?? ''));
  const text = scrub(written);
  // Several servers send no text at all for a call without arguments.
  if (text.trim() === '') return { args: {} };
  const args = canonical(text);
  if (args === undefined) return { args: text, issue: 'args_not_json' };
  const isMap = typeof args === 'object' && args !== null && !Array.isArray(args);
  return isMap ? { args } : { args: text, issue: 'args_not_object' };
}

/** JSON text as a canonical value; undefined for what is no JSON, or JSON without a canonical form such as 1e999. */
function canonical(text: string): Value | undefined {
  try {
    const parsed = parseBounded(text);
    if (typeof parsed !== 'object') return undefined;
    const value = parsed.data as Value;
    encode(value, ARGS_DEPTH_MAX);
    return value;
  } catch {
    return undefined;
  }
}

/** Whether the word for the end of an answer announces calls, or is one that nobody knows. */
export type EndWord = 'calls' | 'known' | 'unknown';

/** What the word for the end of an answer says, by the words of a format. */
export function wordOf(given: unknown, words: Readonly<Record<string, ReadAnswer['finishReason']>>): EndWord {
  if (typeof given !== 'string' || given === '') return 'known';
  if (!Object.hasOwn(words, given)) return 'unknown';
  return words[given] === 'tool_calls' ? 'calls' : 'known';
}

/** The provider's name of an answer, where it is one that a receipt takes. */
export function responseIdOf(id: unknown, scrub: Scrub): Pick<ReadAnswer, 'providerResponseId'> {
  if (typeof id !== 'string' || id.length > 256) return {};
  return { providerResponseId: scrub(wellFormed(id)) };
}

/** How many tokens went where, as a provider counted them; each may be missing or nonsense. */
export interface Counted {
  /** All that went in, cached or not. */
  readonly in?: unknown;
  readonly out?: unknown;
  readonly reasoning?: unknown;
  readonly cacheRead?: unknown;
  readonly cacheWrite?: unknown;
}

/** Usage as receipts hold it. */
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

/** Whether a provider gave a number of tokens. */
export function isCount(given: unknown): given is number {
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0;
}
