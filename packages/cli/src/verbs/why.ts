/** `reprise why`: why a file has its content, why a call was made, where a text comes from: back to a person's words. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Act, explainAct, type Found, findActs, type Naming, type WhyLink } from '@reprise/agent/history';
import { RepriseError } from '@reprise/contracts';
import { IdNames } from '@reprise/operators/names';
import { historyIn } from '@reprise/operators/story';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { wrapToColumns } from '../text/layout.js';
import { timeOf } from '../text/record-line.js';
import { withWorld } from '../world/open.js';

interface WhyArguments {
  readonly session?: string;
  /** How the words are meant, when they may mean several things. */
  readonly file?: true;
  readonly call?: true;
  readonly text?: true;
  readonly json?: true;
}

/** Explains one act, or lists the acts that the words may mean. */
export async function why(io: Io, world: string, what: string, options: WhyArguments): Promise<void> {
  await withWorld(world, async (store) => {
    const source = await historyIn(store);
    const naming = namingOf(options);
    const { session } = options;
    const found = await findActs(source, what, {
      ...(naming === undefined ? {} : { as: naming }),
      ...(session === undefined ? {} : { session }),
    });
    const [act, another] = found.acts;
    if (act === undefined) throw nothing(what, naming, found, session);
    const chain = another === undefined ? await explainAct(source, act) : undefined;
    if (options.json === true) return io.out.write(asJson(what, found, chain));
    const text =
      chain === undefined
        ? asList(world, what, found)
        : asChain(chain, [...earlierOf(found), ...(await onDisk(what, act))]);
    const { seq } = await store.journal.head();
    await io.out.write(fitted(await new IdNames(store).words(text, seq + 1), io.out.columns));
  });
}

function namingOf({ file, call, text }: WhyArguments): Naming | undefined {
  if (Number(file === true) + Number(call === true) + Number(text === true) > 1) {
    throw new RepriseError('invalid_argument', 'use only one of --file, --call and --text', {
      hint: 'Without any of them, the words are tried as a place, a call, a file, a digest and a text.',
    });
  }
  return file === true ? 'file' : call === true ? 'call' : text === true ? 'text' : undefined;
}

/** Lines broken between words, each below the beginning of its own first line. */
function fitted(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  const indent = (line: string): number => line.length - line.trimStart().length + 2;
  return text
    .split('\n')
    .map((line) => wrapToColumns(line, columns, indent(line)))
    .join('\n');
}

function asChain(chain: readonly WhyLink[], notes: readonly string[]): string {
  const lines = chain.map(({ depth, words }) => `${'  '.repeat(depth)}${words}`);
  return `${[...lines, ...notes].map(escapeLine).join('\n')}\n`;
}

function earlierOf({ earlier = [] }: Found): string[] {
  if (earlier.length === 0) return [];
  return [`earlier changes of this file: ${earlier.map(({ place, tool }) => `${place} ${tool}`).join(', ')}`];
}

/** A file that is larger is not compared: reading it would take long. */
const COMPARED_BYTES_MAX = 64 * 1024 * 1024;

/** Whether the file that the user named has the content that the call wrote. */
async function onDisk(what: string, { file }: Act): Promise<string[]> {
  if (file?.after == null) return [];
  const path = resolve(what);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > COMPARED_BYTES_MAX) return [];
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined) return [];
  const digest = createHash('sha256').update(bytes).digest('hex');
  return digest === file.after.hex
    ? [`the file ${path} has this content`]
    : [`the file ${path} has other content now, sha256:${digest.slice(0, 12)}: no recorded call wrote it`];
}

function asList(world: string, what: string, { as, acts, total }: Found): string {
  const lines = [
    `"${what}" is ${TITLES[as ?? 'text'](total)}:`,
    ...acts.map((act) => `  ${act.place.padEnd(7)} ${timeOf(act.at)} ${act.session}  ${wordsOf(act)}`),
    ...(total > acts.length ? [`  and ${total - acts.length} later ones`] : []),
    `name one by its place: reprise why ${world} ${acts[0]?.place}`,
  ];
  return `${lines.map(escapeLine).join('\n')}\n`;
}

const TITLES: Readonly<Record<Naming, (total: number) => string>> = {
  place: (total) => `the place of ${total} acts`,
  call: (total) => `the beginning of the ids of ${total} calls`,
  file: (total) => `the end of the paths of ${total} files`,
  content: (total) => `linked by ${total} acts, the oldest first`,
  text: (total) => `in ${total} texts, the oldest first`,
};

function wordsOf({ kind, tool, call_id, file, excerpt }: Act): string {
  const what =
    kind === 'message' || kind === 'answer'
      ? KINDS[kind]
      : `${tool} ${call_id}${kind === 'call' ? ' is called' : ' returns'}`;
  const wrote = file === undefined ? '' : `, ${file.after === null ? 'removes' : 'writes'} ${file.path}`;
  return `${what}${wrote}${excerpt === undefined ? '' : `: ${excerpt}`}`;
}

const KINDS = { message: 'a message', answer: 'the model answers' } as const;

function asJson(what: string, { as, acts, total }: Found, chain: readonly WhyLink[] | undefined): string {
  return `${toJson({ ok: true, what, as, total, acts, chain: chain ?? null })}\n`;
}

function nothing(
  what: string,
  naming: Naming | undefined,
  { searched, sessions }: Found,
  session: string | undefined,
): RepriseError {
  if (sessions === 0 && session === undefined) return noSession(what);
  const where = session === undefined ? '' : ` of session ${session}`;
  return new RepriseError('invalid_argument', 'nothing in this world matches', {
    where: `${searched}${where}`,
    expected:
      naming === undefined
        ? 'a place (12.3), the id of a call, the path of a file, a digest, or a text'
        : EXPECTED[naming],
    actual: what,
    hint: 'Copy a call id or a place from reprise log, or try a shorter piece of the text: upper and lower case differ, and a program that a tool ran may have written the file.',
  });
}

function noSession(actual: string): RepriseError {
  return new RepriseError('invalid_argument', 'the world has no agent session, whose acts could be explained', {
    actual,
    hint: 'reprise log prints what happened in the world; reprise show WORLD CELL --history prints the records of a cell.',
  });
}

const EXPECTED: Readonly<Record<Naming, string>> = {
  place: 'a place (12.3)',
  call: 'the id of a call, or its first characters',
  file: 'the path of a file that a call changed',
  content: 'a digest',
  text: 'a piece of a text, in the same upper and lower case',
};
