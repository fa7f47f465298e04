/** Words that the history and the explanation of an act share: quotes, amounts, reasons. */
import { type Actor, actorWords, isRef, limitWords, type Ref, startOfText, type Value } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import { readText } from '../content/transcript.js';
import type { AgentEventOf } from '../contracts/agent-event.js';
import type { Tally } from '../contracts/config.js';
import type { NonExecution } from '../contracts/non-execution.js';

/**
 * A text in quotes, cut to a bound; behind it stands what was cut.
 *
 * @param ref the content that has the text in full
 */
export function quoted(text: string, unitsMax: number, ref?: Ref): string {
  const shown = startOfText(text, unitsMax);
  const left = text.length - shown.length;
  if (left === 0) return `"${shown}"`;
  return `"${shown}…" (+${amount(left, 'character')}${ref === undefined ? '' : `, ${shortRef(ref)}`})`;
}

/** A text without quotes, cut to a bound. */
export function bounded(text: string, unitsMax: number): string {
  const shown = startOfText(text, unitsMax);
  const left = text.length - shown.length;
  return left === 0 ? shown : `${shown}… (+${amount(left, 'character')})`;
}

/** A number with its noun: `1 step`, `1,234 steps`. */
export function amount(count: number, noun: string): string {
  return `${digits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A whole number with a comma before each three digits. `toLocaleString` loads tables, which takes longer than to print a page of lines. */
function digits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A link by its first digits, which every command accepts in place of all of them. */
export function shortRef(ref: Ref): string {
  return `sha256:${ref.hex.slice(0, 12)}`;
}

/** A value in one line: JSON with sorted keys, links shortened. */
export function inline(value: unknown): string {
  if (isRef(value)) return shortRef(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value)) return `[${value.map(inline).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${inline(item)}`).join(',')}}`;
}

/** Why a run ended, in words. */
export function stopWords(stop: NonNullable<AgentEventOf<'lifecycle'>['stop']>): string {
  switch (stop.kind) {
    case 'Completed':
      return stop.warning === undefined ? 'completed' : `completed, with the warning ${stop.warning}`;
    case 'Cancelled':
      return stop.dropped === undefined ? 'cancelled' : `cancelled before it started (${stop.dropped})`;
    case 'Failed':
      return `failed in ${stop.stage}: ${stop.code}`;
    case 'LimitsExceeded':
      return `stopped at the limit ${limitWords(stop.limit)}`;
  }
}

/** Why a call has no output, in words. */
export function nonExecutionWords({ kind, code }: NonExecution): string {
  return `${NOT_DONE[kind]}${code === undefined ? '' : ` (${code})`}`;
}

const NOT_DONE: Readonly<Record<NonExecution['kind'], string>> = {
  denied: 'was refused and not executed',
  cancelled: 'was cancelled before it began',
  interrupted: 'was stopped while it ran: it may be done in part',
  outcome_unknown: 'has an unknown outcome: no answer came, so it may have happened',
  completed_late: 'was given up, and answered later',
  failed: 'failed before it had any effect',
};

/** What a run used, in words; empty when nothing is known. */
export function usageWords(usage: Tally | undefined): string {
  if (usage === undefined) return '';
  const { steps, tokens_in, tokens_out, micro_money } = usage;
  const money = micro_money > 0 ? `, $${(micro_money / 1_000_000).toFixed(4)}` : '';
  return ` after ${amount(steps, 'step')}, ${digits(tokens_in)} tokens in, ${digits(tokens_out)} out${money}`;
}

/** The text behind a link; undefined when it was erased or is missing. */
export function textAt(content: ContentReader, ref: Ref): Promise<string | undefined> {
  return readText(content, ref).catch(() => undefined);
}

/** The value behind a link; undefined when it was erased, is missing, or is no value. */
export function valueAt(content: ContentReader, ref: Ref): Promise<Value | undefined> {
  return getValue(content, ref).catch(() => undefined);
}

/** A time as ISO text in UTC; the number itself when it is outside the range of dates. */
export function timeWords(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}

/** What is said of the operator: code of the app, which named nobody. */
const NOT_NAMED = 'operator (not named)';

const PERSON = 'human:';

/**
 * Who acted, in words: a person by the name, and what acts in the name of a person with that person.
 *
 * @param by the principal whose rights counted, or what else acted
 */
export function actedWords(by: string, actor?: Actor): string {
  if (by === 'operator' && (actor === undefined || (actor.kind === 'program' && actor.id === by))) return NOT_NAMED;
  if (actor === undefined) return by;
  const words = actorWords(actor);
  if (actor.kind !== 'program' || !by.startsWith(PERSON)) return words;
  return `${actorWords({ kind: 'person', id: by.slice(PERSON.length) })} (by the ${words})`;
}
