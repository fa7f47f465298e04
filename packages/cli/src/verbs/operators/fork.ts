/** `reprise fork`: a world that shares its past with another, and what would have happened with another answer. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type ForkEffect, type ForksReport, forksOf, type WhatIfReport, whatIf } from '@reprise/operators/fork';
import { ownerWords, shortKey } from '@reprise/operators/names';
import { sqlite } from '@reprise/store-sqlite';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { wrapToColumns } from '../../text/layout.js';
import { requireApp } from '../../world/app.js';
import { isWorld, withWorld } from '../../world/open.js';
import { isDatabase, requireFile } from '../../world/place.js';

interface ForkArguments {
  readonly into?: string;
  /** `EFFECT=TEXT`, one for each other answer. */
  readonly answer?: readonly string[];
  readonly deny?: readonly string[];
  readonly feed?: true;
  readonly list?: true;
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly json?: true;
}

/** Makes a dry fork and says what it did otherwise; with `list`, lists the forks beside a world. */
export async function fork(io: Io, world: string, at: number | undefined, options: ForkArguments): Promise<void> {
  if (options.list === true) {
    requireFile(
      world,
      'a list of the forks beside it',
      'Ask each of them: reprise log names the world that a fork is of.',
    );
    return listForks(io, world, options);
  }
  const answers = answersIn(options.answer ?? []);
  const denied = options.deny ?? [];
  const isOtherwise = denied.length > 0 || Object.keys(answers).length > 0;
  if (at === undefined && !isOtherwise) throw needsFrame();
  const into = placeOf(world, at, options.into);
  if (existsSync(into)) throw taken(into);
  const report = await withWorld(world, async (store) =>
    whatIf(store, await requireApp(store, options), {
      ...{ into: sqlite(into), answers, denied },
      ...(at === undefined ? {} : { at }),
      ...(options.feed === undefined ? {} : { feed: true }),
    }),
  );
  const text = () => textOf(report, into, io.out.columns);
  await io.out.write(options.json === true ? `${toJson({ into, ...report })}\n` : text());
}

function answersIn(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((one) => {
      const at = one.indexOf('=');
      if (at > 0) return [one.slice(0, at), one.slice(at + 1)];
      throw new RepriseError('invalid_argument', 'this names no effect and its other answer', {
        where: '--answer',
        expected: 'the id of an effect, or its first 8 digits, and the answer: --answer 19113dee="No."',
        actual: one,
      });
    }),
  );
}

function needsFrame(): RepriseError {
  return new RepriseError('invalid_argument', 'a fork begins at a frame or with another answer', {
    where: 'at',
    expected: 'the last frame that the fork shares with the world, or --answer EFFECT=TEXT, or --deny EFFECT',
    hint: 'reprise log WORLD prints the frames.',
  });
}

function taken(into: string): RepriseError {
  return new RepriseError('invalid_argument', 'there is a file in the place of the fork', {
    where: '--into',
    actual: into,
    hint: 'Name another place with --into FILE. If the file is a fork that was interrupted, remove it.',
  });
}

/** The file of the fork. */
function placeOf(world: string, at: number | undefined, into: string | undefined): string {
  if (into === undefined) {
    requireFile(world, 'a place beside it', 'Name the file of the fork: --into FILE.');
    return placeBeside(world, at);
  }
  if (isDatabase(into)) throw notInto();
  return into;
}

function notInto(): RepriseError {
  return new RepriseError('invalid_argument', 'a fork is made in a file, and this place is in a database', {
    where: '--into',
    expected: 'the path of a file that does not exist yet',
  });
}

/** A free place beside the world. */
function placeBeside(world: string, at: number | undefined): string {
  const { dir, name, ext } = path.parse(world);
  const base = `${name}-fork${at === undefined ? '' : `-${at}`}`;
  for (let n = 1; ; n++) {
    const file = path.join(dir, `${base}${n === 1 ? '' : `-${n}`}${ext}`);
    if (!existsSync(file)) return file;
  }
}

function textOf(report: WhatIfReport, into: string, columns: number | undefined): string {
  const { at, settled, instead, fed, matched, unmatched, unused, departure } = report;
  const lines = [
    `${into}: shares the frames up to ${at}${settled === 0 ? '' : `; ${amount(settled, 'effect')} open there ${settled === 1 ? 'is' : 'are'} settled in its first own frame`}`,
    ...instead.map(({ effect, what, status }) => `instead: ${what} (${effect.slice(0, 8)}…) ends ${status}`),
    ...(fed === null ? [] : [fedText(fed)]),
    ...(fed?.refused ?? []).map(({ seq, code }) => `  the request of frame ${seq} is refused: ${code}`),
    ...(fed === null ? [] : [`${amount(matched, 'effect')} as in the original`]),
    ...section('only in the fork, and denied there, since nothing outside is called:', unmatched),
    ...section(fed === null ? 'in the original after that:' : 'only in the original:', unused),
    ...(departure === null
      ? []
      : [`first difference: frame ${departure.seq} of the fork, frame ${departure.original} of the original`]),
    `reprise log ${into}`,
  ].map((line) => escapeLine(shortKey(line)));
  return lines.map((line) => `${columns === undefined ? line : wrapToColumns(line, columns, 4)}\n`).join('');
}

function fedText({ sent, refused }: NonNullable<WhatIfReport['fed']>): string {
  const said = `${amount(sent, 'request')} of the original repeated`;
  return refused.length === 0 ? said : `${said}, ${refused.length} refused`;
}

function section(head: string, effects: readonly ForkEffect[]): readonly string[] {
  return effects.length === 0
    ? []
    : [head, ...effects.map(({ of, what, frame }) => `  frame ${frame}, ${ownerWords(of)}: ${what}`)];
}

function amount(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** Lists the forks of a world among the files of its folder. */
async function listForks(io: Io, world: string, { json }: ForkArguments): Promise<void> {
  const { dir, ext } = path.parse(world);
  const own = path.resolve(world);
  const files = readdirSync(dir === '' ? '.' : dir)
    .filter((file) => path.extname(file) === ext)
    .map((file) => path.join(dir, file))
    .filter((file) => path.resolve(file) !== own && isWorld(file));
  const others: Record<string, ReadonlyStore> = {};
  try {
    for (const file of files) {
      const store = await openedOrNot(file);
      if (store !== undefined) others[file] = store;
    }
    const report = await withWorld(world, (store) => forksOf(store, others));
    await io.out.write(json === true ? `${toJson(report)}\n` : listText(report, world));
  } finally {
    for (const store of Object.values(others)) await store.close();
  }
}

/** A file beside the world that cannot be read, such as an unfinished fork, is left out. */
async function openedOrNot(file: string): Promise<ReadonlyStore | undefined> {
  try {
    return await sqlite(file).openReadonly();
  } catch (error) {
    if (isRepriseError(error)) return undefined;
    throw error;
  }
}

function listText({ forks }: ForksReport, world: string): string {
  if (forks.length === 0) return `${escapeLine(world)}: no file beside it is a fork of it\n`;
  const lineOf = ({ path: file, mode, from, own }: ForksReport['forks'][number]) =>
    `${file}: ${mode}, shares the frames up to ${from.seq}, ${amount(own, 'frame')} of its own`;
  return forks.map((one) => `${escapeLine(lineOf(one))}\n`).join('');
}
