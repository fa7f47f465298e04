/**
 * What happens in a world outside its sessions, in words: requests to other cells, their effects and facts, faults, and
 * what concerns the world as a whole.
 */

import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { actedWords } from '@reprise/agent/history';
import { formatAddress, type JournalRecord, type Sender, shortText, type Value } from '@reprise/contracts';
import { toJson } from '../text/json.js';
import { timeText } from '../text/record-line.js';

/** An entry of the world, or of a cell that is no session. */
export interface WorldEntry {
  /** The index of its record. */
  readonly i: number;
  /** The address of the cell; null for the world. */
  readonly cell: string | null;
  readonly kind: string;
  readonly by: string | null;
  readonly words: string;
}

type Body = Omit<WorldEntry, 'i' | 'kind'> | undefined;
type Words = { readonly [K in JournalRecord['kind']]?: (record: Extract<JournalRecord, { kind: K }>) => Body };

/** An open effect of a cell that is no session. */
interface Opened {
  readonly name: string;
  readonly cell: string;
}

/** Follows the records of a world that belong to no session. Memory is bounded by the number of open effects. */
export class WorldHistory {
  readonly #open = new Map<string, Opened>();

  /** @param unitsMax the most characters of a value */
  constructor(private readonly unitsMax: number) {}

  /** The entries of a frame. @param isTold whether the history of sessions has an entry for a record */
  entriesOf(records: readonly JournalRecord[], isTold: (i: number) => boolean): WorldEntry[] {
    return records.flatMap((record, i) => {
      const body = isTold(i) ? undefined : this.#bodyOf(record);
      this.#forget(record);
      return body === undefined ? [] : [{ i, kind: record.kind, ...body }];
    });
  }

  #bodyOf(record: JournalRecord): Body {
    return (this.#words[record.kind] as ((record: JournalRecord) => Body) | undefined)?.(record);
  }

  readonly #words: Words = {
    manifest: ({ seq, world, reducers, plans, effects, principal }) => {
      const what = [count(reducers, 'reducer'), count(plans, 'plan'), count(effects, 'effect')].join(', ');
      const words =
        seq === 0
          ? `world ${world.slice(0, 12)} begins: ${what}`
          : `a new era begins, with changed definitions: ${what}`;
      return of(null, principal, words);
    },
    fork: ({ world, from, mode, principal }) =>
      of(
        null,
        principal,
        `world ${world.slice(0, 12)} begins as a ${mode} fork of ${from.world.slice(0, 12)} after frame ${from.seq}`,
      ),
    request: ({ to, event, principal, actor }) =>
      isSession(to)
        ? undefined
        : of(
            formatAddress(to),
            principal,
            `${actedWords(principal, actor)} requests ${event.name}: ${this.#value(event.value)}`,
          ),
    command: ({ command, principal }) =>
      of(
        null,
        principal,
        `${actedWords(principal, 'actor' in command.value ? command.value.actor : undefined)} commands ${command.name}: ${this.#value(command.value as unknown as Value)}`,
      ),
    timer: ({ cell, name, due }) =>
      isSession(cell) ? undefined : of(formatAddress(cell), 'kernel', `the timer ${name} of ${timeText(due)} is due`),
    erase: ({ cell, digests, principal, reason }) => {
      const what = `${digests.length} ${digests.length === 1 ? 'content' : 'contents'}`;
      const from = cell === null ? '' : ` of ${formatAddress(cell)}`;
      return of(
        null,
        principal,
        `${actedWords(principal)} erases ${what}${from}${reason === undefined ? '' : `: ${reason}`}`,
      );
    },
    clock: ({ wall, principal }) =>
      of(null, principal, `${actedWords(principal)} confirms the clock: ${timeText(wall)}`),
    effect: ({ plan, effect, name, params, approval }) => {
      if (isSession(plan)) return undefined;
      const cell = formatAddress(plan);
      this.#open.set(effect, { name, cell });
      const waits = approval === undefined ? '' : ` after approval by ${approval}`;
      return of(cell, cell, `starts ${name} ${effect.slice(0, 12)}${waits}: ${this.#value(params)}`);
    },
    attempt: ({ effect, attempt }) => {
      const known = this.#open.get(effect);
      if (known === undefined || attempt === 1) return undefined;
      const again = `is started again (attempt ${attempt}): the attempt before was interrupted or failed`;
      return of(known.cell, 'kernel', `${known.name} ${effect.slice(0, 12)} ${again}`);
    },
    deferred: ({ effect, to }) =>
      this.#ofEffect(effect, (name) => `${name} waits for an outcome from ${to ?? 'the operator'}`),
    ask: ({ effect, question, to }) =>
      this.#ofEffect(effect, (name) => `${name} asks ${to ?? 'the operator'}: ${this.#value(question)}`),
    receipt: ({ effect, receipt: { status, code, payload, adapter } }) => {
      const known = this.#open.get(effect);
      if (known === undefined) return undefined;
      const how = status === 'ok' ? 'returns' : `ends: ${status === 'outcome_unknown' ? UNKNOWN : status}`;
      const why = code === undefined ? '' : ` ${code}`;
      const value = payload === undefined ? '' : `: ${this.#value(payload)}`;
      return of(known.cell, adapter, `${known.name} ${effect.slice(0, 12)} ${how}${why}${value}`);
    },
    settled: ({ effect, status, code, by }) =>
      this.#ofEffect(effect, (name) => `${name} ends: ${status}${code === null ? '' : ` ${code}`}, by ${by}`),
    denial: ({ who, what, code }) =>
      who.startsWith(`cell:${SESSION_REDUCER}/`)
        ? undefined
        : of(cellIn(who), 'kernel', `${what} of ${who} is denied: ${code}`),
    fact: ({ from, name, value }) =>
      isSession(from) ? undefined : of(nameOf(from), nameOf(from), `${name}: ${this.#value(value)}`),
    fault: ({ target, code }) => of(nameOf(target), 'kernel', `a delivery failed and was dropped: ${code}`),
    cell_command: ({ from, command }) =>
      of(nameOf(from), nameOf(from), `commands ${command.name}: ${this.#value(command.value as unknown as Value)}`),
    plan_ended: ({ plan, status, code }) =>
      status !== 'error'
        ? undefined
        : of(nameOf(plan), 'kernel', `plan ${plan[2]} failed${code === null ? '' : `: ${code}`}`),
  };

  #ofEffect(effect: string, words: (name: string) => string): Body {
    const known = this.#open.get(effect);
    return known && of(known.cell, known.cell, words(`${known.name} ${effect.slice(0, 12)}`));
  }

  #forget(record: JournalRecord): void {
    if (record.kind === 'receipt' || record.kind === 'settled') this.#open.delete(record.effect);
  }

  #value(value: Value): string {
    return shortText(toJson(value, { shortLinks: true }), this.unitsMax);
  }
}

const UNKNOWN = 'the outcome is unknown, since nothing of it was recorded: it may have happened';

function of(cell: string | null, by: string | null, words: string): Body {
  return { cell, by, words };
}

function isSession(of: Sender): boolean {
  return of !== null && of[0] === SESSION_REDUCER;
}

function nameOf(of: Sender): string | null {
  return of === null ? null : formatAddress(of);
}

function cellIn(principal: string): string | null {
  return principal.startsWith('cell:') ? principal.slice('cell:'.length) : null;
}

function count({ length }: { readonly length: number }, noun: string): string {
  return `${length} ${noun}${length === 1 ? '' : 's'}`;
}
