/** `reprise waiting`: what waits for people, with its age and the line that answers it, and what is at work. */

import { present, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type Owner, ownerWords, shortKey } from '@reprise/operators/names';
import { pendingIn, type Unfinished, type WaitingItem, type WaitingReport } from '@reprise/operators/waiting';
import type { Io } from '../../process/io.js';
import { durationText } from '../../text/age.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { framesOf } from '../../world/frames.js';
import { withWorld } from '../../world/open.js';

interface WaitingArguments {
  readonly at?: number;
  readonly follow?: true;
  readonly json?: true;
  readonly limit?: number;
  readonly after?: string;
}

/** Prints what waits; with `follow`, again whenever that changes. */
export async function waiting(io: Io, world: string, options: WaitingArguments): Promise<void> {
  if (options.follow === true && options.at !== undefined)
    throw new RepriseError('invalid_argument', 'what waited at an earlier frame does not change', {
      where: '--follow',
      expected: 'either --at or --follow',
      actual: 'both',
    });
  await withWorld(world, async (store) => {
    let last = await print(io, store, world, options);
    if (options.follow !== true) return;
    const { seq } = await store.journal.head();
    const frames = framesOf(store, io, { from: seq + 1, follow: true, path: world });
    for await (const _ of frames) last = await print(io, store, world, options, last);
  });
}

/** Prints the list. @param before what was printed last: the same is not printed again. @returns what names the list */
async function print(
  io: Io,
  store: ReadonlyStore,
  world: string,
  { at, json, limit, after }: WaitingArguments,
  before?: string,
): Promise<string> {
  const report = await pendingIn(store, { world, ...present({ at, limit, after }) });
  const now = toJson([report.waiting, report.unfinished]);
  if (now === before) return now;
  const text = json === true ? `${toJson(report)}\n` : textOf(report, world, io.out.columns);
  await io.out.write(before === undefined || json === true ? text : `\n${text}`);
  return now;
}

function textOf(report: WaitingReport, world: string, columns: number | undefined): string {
  const { waiting: items, unfinished, next, process: writer, at } = report;
  const now = report.process === null ? (at ?? 0) : Date.now();
  const lines = [
    items.length === 0
      ? `${world}: nothing waits for people`
      : `${world}: ${counted(items.length, 'thing')} ${items.length === 1 ? 'waits' : 'wait'}`,
    ...items.flatMap((item) => linesOf(item, now)),
    ...(next === null ? [] : ['There are more: --json has the cursor for --after.']),
    ...(unfinished.length === 0 ? [] : ['', headOfWork(writer)]),
    ...unfinished.map((one) => lineOfWork(one, now)),
  ];
  return lines.map((line) => `${fitted(escapeLine(line), columns)}\n`).join('');
}

const INDENT = '  ';

/** What waits, and below it how to answer it: a line of its own, to be copied. */
function linesOf(item: WaitingItem, now: number): readonly string[] {
  const { kind, what, options, to, since, until, answer } = item;
  const choices = options.length === 0 ? '' : ` [${options.join(', ')}]`;
  const age = since === null ? '' : `, for ${durationText(now - since)}`;
  const ends = until === null ? '' : `, ends in ${durationText(until - now)}`;
  const who = to === null ? '' : `, by ${to}`;
  return [
    `${kind}: ${shortKey(what)}${choices}`,
    `${INDENT}${placeOf(item.of)}${who}${age}${ends}`,
    `${INDENT}${copyable(answer.line)}`,
  ];
}

function placeOf(of: Owner): string {
  return ownerWords(of);
}

function headOfWork(writer: WaitingReport['process']): string {
  if (writer === 'open') return 'At work:';
  return writer === null ? 'At work then:' : 'Unfinished, goes on when the program starts:';
}

function lineOfWork({ of, lifecycle, since, doing }: Unfinished, now: number): string {
  const what = doing.map((one) => `${shortKey(one.what)}${one.attempt > 1 ? ` (attempt ${one.attempt})` : ''}`);
  const work = what.length === 0 ? '' : `: ${what.join('; ')}`;
  const age = since === null ? '' : `, for ${durationText(now - since)}`;
  return `${INDENT}${placeOf(of)}${lifecycle === 'Cancelling' ? ', is being cancelled' : ''}${age}${work}`;
}

function fitted(line: string, columns: number | undefined): string {
  return columns === undefined ? line : wrapToColumns(line, columns, 4);
}

function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

const ID = /[0-9a-f]{64}/;

/** A line to be copied: of an id its first digits in a `world.decide`; nothing else knows it by them. */
function copyable(line: string): string {
  const short = line.replace(/^(await world\.decide\('[0-9a-f]{12})[0-9a-f]{52}/, '$1');
  return ID.test(short) ? 'The line that answers it has a long id: --json prints it.' : short;
}
