/** `GET /api/trouble?at&all&limit&after`: what went wrong, and what may have run twice. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { failureWords, formatAddress, type JournalRecord, parseAddress } from '@reprise/contracts';
import type { PostedTroubles } from '@reprise/kernel';
import { postedTroubles } from '@reprise/kernel/driver';
import { snapshotBefore } from '@reprise/kernel/inspect';
import { readFrame } from '@reprise/kernel/store';
import { type AttemptRow, attemptsOf, attemptWords } from '@reprise/operators/attempts';
import { type Owner, ownerOfCell, shortKey } from '@reprise/operators/names';
import { frameOf, pageOf } from '@reprise/operators/page';
import { AFTER, AT, LIMIT, oneOf, optional } from '../ask/parameters.js';
import { type Asked, question } from '../ask/question.js';
import type { TroubleReport, TroubleRow } from '../contract/index.js';

export const trouble = question(
  { at: AT, all: optional(oneOf('1')), limit: LIMIT, after: AFTER },
  async (asked, { at, all, limit, after }): Promise<TroubleReport> => {
    const found = await troublesAt(asked, at, all === undefined ? 'snapshot' : 0);
    const page = { limit, ...(after === undefined ? {} : { after }) };
    const { items, next } = pageOf(found.rows, page, cursorOf);
    return { frame: found.frame, from: found.from, rows: items, next };
  },
);

function cursorOf({ kind, effect, of, place, what }: TroubleRow): string {
  return [kind, effect ?? of?.cell ?? what, place?.frame ?? ''].join(' ');
}

interface Troubles {
  readonly frame: number;
  /** The first frame whose attempts count. */
  readonly from: number;
  readonly rows: readonly TroubleRow[];
}

/** What went wrong up to a frame: first what holds something up now, then what may have run twice, the newest first. */
export async function troublesAt(asked: Asked, at: number | undefined, from: 'snapshot' | 0): Promise<Troubles> {
  const { store, path, signal } = asked;
  const frame = await frameOf(store, at);
  const posted = at === undefined ? await postedTroubles(store) : { writer: 'unknown' as const, troubles: [] };
  const cells = await failedCells(asked, frame);
  const attempts = await attemptsOf(store, { from, at: frame, signal });
  const rows = [
    ...(posted.writer === 'died' ? [died(path)] : []),
    ...posted.troubles.map(serviceRow),
    ...cells,
    ...attempts.rows.map(attemptRow).reverse(),
  ];
  return { frame, from: attempts.from, rows };
}

function died(path: string): TroubleRow {
  const what = `${path}: the process that had it open ended without closing it. Open the world again: what was under way goes on, or is reported as unknown.`;
  return { kind: 'service', of: null, what, place: null, effect: null };
}

function serviceRow(one: PostedTroubles['troubles'][number]): TroubleRow {
  const { where, code, waiting } = one;
  const waits = waiting === 0 ? '' : `; ${waiting} wait${waiting === 1 ? 's' : ''} for it`;
  const what = `${where}${waits}: ${failureWords(code, 'error' in one ? one.error : undefined)}`;
  return { kind: 'service', of: null, what, place: null, effect: null };
}

function attemptRow(row: AttemptRow): TroubleRow {
  const { kind, of, what, place, effect } = row;
  return { kind, of, what: `${shortKey(what)} ${attemptWords(row)}`, place, effect };
}

/** The cells that have failed, from the newest snapshot and the frames behind it, the newest failure first. */
async function failedCells({ store, path, signal }: Asked, frame: number): Promise<readonly TroubleRow[]> {
  const snapshot = await snapshotBefore(store, frame);
  const failed = new Map<string, Failure>();
  for (const { where, code, event, frame: seq, since } of snapshot.failed)
    failed.set(formatAddress(where), { what: `${code} on ${event}`, frame: seq, at: since });
  for await (const { seq, at, bytes } of store.journal.read(snapshot.seq + 1, frame)) {
    signal.throwIfAborted();
    takeFrame(failed, readFrame(bytes, seq).all, { frame: seq, at });
  }
  return [...failed].reverse().map(([cell, { what, ...place }]) => {
    const revive = `reprise revive ${path} '${cell}'`;
    return {
      ...{ kind: 'cell', of: ownerOf(cell), place, effect: null },
      what: `${shortKey(cell)} has failed: ${what}. Fix the cause, then: ${revive}`,
    };
  });
}

/** To whom a failed cell belongs, as far as its address says it. */
function ownerOf(cell: string): Owner {
  const address = parseAddress(cell);
  const owner = ownerOfCell(address, () => undefined);
  return address[0] === SESSION_REDUCER ? { ...owner, session: address[1] } : owner;
}

interface Failure {
  readonly what: string;
  readonly frame: number;
  readonly at: number;
}

/** Takes what a frame states of failures: a cell says that it has failed, and a fault of the same frame why. */
function takeFrame(
  failed: Map<string, Failure>,
  records: readonly JournalRecord[],
  place: { readonly frame: number; readonly at: number },
): void {
  const state = records.at(-1);
  if (state?.kind !== 'state') return;
  for (const [[kind, reducer, key], changed] of state.leaves) {
    if (kind !== 'cell') continue;
    const cell = formatAddress([String(reducer), String(key)]);
    const now = changed === null ? [null] : changed.failed;
    const isOver = changed !== null && Array.isArray(changed.live) && changed.live[0] === false;
    if (isOver || (Array.isArray(now) && (now.length === 0 || now[0] === null))) failed.delete(cell);
    else if (now !== undefined) failed.set(cell, { what: faultOf(records, cell), ...place });
  }
}

function faultOf(records: readonly JournalRecord[], cell: string): string {
  for (const record of records)
    if (
      record.kind === 'fault' &&
      record.target !== null &&
      formatAddress([record.target[0], record.target[1]]) === cell
    )
      return record.code;
  return 'a fault';
}
