/** `reprise memory`: what agents keep, who wrote it, from what, and what others made of it. */
import { present } from '@reprise/contracts';
import {
  type MemoryReport,
  type MemoryRow,
  type MemoryStep,
  type MemoryVerdict,
  memoryOf,
} from '@reprise/operators/memory';
import { ownerWords, shortKey } from '@reprise/operators/names';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { timeOf } from '../../text/record-line.js';
import { requireApp } from '../../world/app.js';
import { withWorld } from '../../world/open.js';

interface MemoryArguments {
  readonly at?: number;
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly limit?: number;
  readonly after?: string;
  readonly json?: true;
}

/** Prints the items of all stores or of one, or one item with all that is known of it. */
export async function memory(io: Io, world: string, item: string | undefined, options: MemoryArguments): Promise<void> {
  const { at, limit, after, json } = options;
  const report = await withWorld(world, async (store) =>
    memoryOf(store, await requireApp(store, options), present({ item, at, limit, after })),
  );
  await io.out.write(json === true ? `${toJson(report)}\n` : textOf(report, world, item, io.out.columns));
}

function textOf(report: MemoryReport, world: string, item: string | undefined, columns: number | undefined): string {
  const { frame, rows, next } = report;
  const one = rows.find((row) => row.item === item);
  const lines = (
    one === undefined
      ? [
          headOf(report, item ?? world),
          ...rows.flatMap((row, i) => linesOf(row, rows[i - 1]?.store)),
          ...(next === null ? [] : ['There are more items: --json has the cursor for --after.']),
        ]
      : detailOf(one, frame, world)
  ).map((line) => escapeLine(shortKey(line)));
  return lines.map((line) => `${columns === undefined ? line : wrapToColumns(line, columns, 4)}\n`).join('');
}

function headOf({ frame, stores, rows }: MemoryReport, what: string): string {
  const items = rows.length === 0 ? 'no item' : counted(rows.length, 'item');
  return `${what}: ${items} in ${counted(stores, 'store')}, after frame ${frame}`;
}

/** An item of a list: its store where that is another one than before, its words, and what others made of it. */
function linesOf(row: MemoryRow, store: string | undefined): readonly string[] {
  const { id, type, at, state, verdicts } = row;
  const about = [`${type} by ${authorOf(row)}`, placeOf(row.frame, at), ...(state === 'live' ? [] : [state])];
  return [
    ...(store === row.store ? [] : [`${row.store}${row.store_of === null ? '' : ` (of ${row.store_of})`}`]),
    `  #${id} ${about.join(', ')}: ${wordsOf(row)}`,
    ...oddities(row).map((one) => `    ${one}`),
    ...(verdicts.length === 0 ? [] : [`    ${verdicts.map(verdictOf).join('; ')}`]),
  ];
}

/** All that is known of one item. */
function detailOf(row: MemoryRow, frame: number, world: string): readonly string[] {
  const { item, type, state, revision, score, uses, text, from, verdicts, act, expires_at } = row;
  const words = text === null ? [wordsOf(row)] : text.split('\n');
  return [
    `${item}, ${type}, ${state}, after frame ${frame}`,
    ...words.map((line) => `  ${line}`),
    `written by ${authorOf(row)}, ${placeOf(row.frame, row.at)}${act === null ? '' : `: ${actOf(act)}`}`,
    ...oddities(row),
    `revision ${revision}, score ${score}, ${counted(uses, 'use')}${expires_at === null ? '' : `, until ${timeOf(expires_at)}`}`,
    ...(from.length === 0 ? [] : ['comes from:', ...from.map((step) => `  ${stepOf(step)}`)]),
    ...(verdicts.length === 0 ? ['nobody has judged it'] : ['judged:', ...verdicts.map((one) => `  ${judgedBy(one)}`)]),
    `who may read it: reprise readers ${world} ${item}`,
  ];
}

function authorOf({ author: { cell, name }, act }: MemoryRow): string {
  if (cell === 'people') return act?.by ?? 'people';
  const session = act?.of?.agent ?? null;
  const shown = name ?? cell;
  return session === null || shown.startsWith(session) ? shown : `${session} for ${shown}`;
}

function wordsOf({ words, gone }: MemoryRow): string {
  return words ?? `(${gone})`;
}

function placeOf(frame: number | null, at: number): string {
  return frame === null ? `${timeOf(at)}, before this file` : `frame ${frame} (${timeOf(at)})`;
}

/** What is out of the ordinary about an item. */
function oddities({ before_answers: early, erased, changed, replaced_by, copy_of, taken_over }: MemoryRow): string[] {
  return [
    ...(early === null
      ? []
      : [
          `written before any reader had answered: swarm ${early.swarm} had ${counted(early.tasks, 'task')} and no answer`,
        ]),
    ...(copy_of === null ? [] : [`a copy of ${copy_of}`]),
    ...(taken_over === null
      ? []
      : [
          `taken over from ${taken_over.from.name ?? taken_over.from.cell} by ${taken_over.by.name ?? taken_over.by.cell}, ${taken_over.reviewed ? 'after a review' : 'without a review'}`,
        ]),
    ...(replaced_by === null ? [] : [`replaced by ${replaced_by}`]),
    ...(changed === null ? [] : [`changed ${placeOf(changed.frame, changed.at)}`]),
    ...(erased === null ? [] : [`erased ${placeOf(erased.frame, erased.at)}`]),
  ];
}

/** The call or the request that wrote an item. */
function actOf({ of, run, step, place, by }: NonNullable<MemoryRow['act']>): string {
  if (of === null) return `a request by ${by ?? 'people'} (${place})`;
  const where = step === null ? '' : `step ${step} of run ${run} of `;
  return `${where}${ownerWords(of)} (${place})`;
}

function stepOf({ kind, id, title, frame, words }: MemoryStep): string {
  const named = title === '' || title === `${kind} ${id}` ? '' : ` ${title}`;
  const place = frame === null ? ', stated in no frame of this file' : `, frame ${frame}`;
  return `${kind} ${id}${named}${place}${words === null ? '' : `: ${words}`}`;
}

/** A verdict in a list: a score is shown where it has changed. */
function verdictOf(of: MemoryVerdict): string {
  return `${said(of)} by ${of.observer.name}${trustOf(of)}`;
}

function judgedBy(of: MemoryVerdict): string {
  const { by, basis, stands, frame, at } = of;
  const how = basis === null ? '' : `, by ${basis.replace('_', ' ')}`;
  const whose = by === null ? '' : ` (${by})`;
  return `${said(of)} by ${of.observer.name}${whose}, ${placeOf(frame, at)}${how}${trustOf(of)}${stands ? '' : '; it no longer counts'}`;
}

function said({ verdict }: MemoryVerdict): string {
  return verdict === 'retract' ? 'retracted' : verdict;
}

function trustOf({ trust }: MemoryVerdict): string {
  return trust === null ? '' : ` (trust ${score(trust.old_ppm)} -> ${score(trust.ppm)}, ${trust.tier})`;
}

function score(ppm: number): string {
  return (ppm / 1_000_000).toFixed(2);
}

function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
