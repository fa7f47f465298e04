/**
 * Workspace tools on a folder with many thousand files: each costs little more than `find` pays for it, the event loop stays
 * free, and a stop is noticed within a second, wherever it comes.
 */

import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tool, ToolContext } from '@reprise/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { cpuMs, cpuMsOf } from '../../../scripts/lib/cpu.js';
import { workspace } from '../src/index.js';
import { newNotes, WALK_DEPTH_MAX, WALK_ENTRIES_MAX, walk } from '../src/workspace/find/walk.js';

/** Files in one folder, and as many in folders of a hundred; the long form is run with `REPRISE_LARGE_FILES=50000`. */
const FILES = Number(process.env.REPRISE_LARGE_FILES ?? 20_000 / stepOf(4));
const FOLDERS = FILES / 100;
const ALL = 2 * FILES;
const ENTRIES = ALL + FOLDERS + 2;

/** The text of each file. */
const TEXT = 'one\nneedle\n';

/** A file system lets one file have so many names, and some more. */
const NAMES_MAX = 10_000;

/** Makes many files of one text: a further name of a file takes a tenth of the time of a file. */
function manyFiles(count: number, text: string, pathOf: (i: number) => string): void {
  for (let i = 0; i < count; i++) {
    if (i % NAMES_MAX === 0) writeFileSync(pathOf(i), text);
    else linkSync(pathOf(i - (i % NAMES_MAX)), pathOf(i));
  }
}

let root: string;
let huge: string;

beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'reprise-large-'));
  mkdirSync(path.join(root, 'flat'));
  manyFiles(FILES, TEXT, (i) => path.join(root, 'flat', `file-${i}.ts`));
  const folderOf = (folder: number) => path.join(root, 'many', `folder-${folder}`);
  for (let folder = 0; folder < FOLDERS; folder++) mkdirSync(folderOf(folder), { recursive: true });
  manyFiles(FILES, TEXT, (i) => path.join(folderOf(Math.floor(i / 100)), `File ${i % 100}.ts`));
  huge = mkdtempSync(path.join(tmpdir(), 'reprise-huge-'));
  const lines = Buffer.alloc(62 * 1024 * 1024, 'a line\n');
  writeFileSync(path.join(huge, 'lines.txt'), lines);
  writeFileSync(path.join(huge, 'binary.bin'), Buffer.concat([Buffer.alloc(8_000), lines]));
  writeFileSync(path.join(huge, 'one-line.txt'), 'a'.repeat(2_000_000));
  writeFileSync(path.join(huge, 'sparse.txt'), '');
  truncateSync(path.join(huge, 'sparse.txt'), 64 * 1024 ** 3);
});

afterAll(() => {
  spawnSync('rm', ['-r', root, huge]);
});

function start(name: string, args: object, signal: AbortSignal, where = root): Promise<unknown> {
  const tool = workspace({ root: where }).find((one) => one.name === name) as Tool;
  const given = (tool.args as unknown as { parse(args: object): never }).parse(args);
  return Promise.resolve(tool.run(given, { signal, content: UNUSED } as unknown as ToolContext<never>));
}

/** A content store that reads what it is given and stores nothing. */
const UNUSED = {
  putStream: async (pieces: AsyncIterable<Uint8Array>) => {
    for await (const _ of pieces);
    return { ref: 'sha256:0' };
  },
};

const free = new AbortController().signal;

type Ask = readonly [name: string, args: Record<string, unknown>, heading: string];

const BY_NAME: readonly Ask[] = [
  ['list_files', { depth: 9, limit: 5 }, `${ENTRIES} entries; ${ENTRIES - 5} more not listed`],
  ['list_files', { depth: 9, limit: 1_000 }, `${ENTRIES} entries; ${ENTRIES - 1_000} more not listed`],
  ['glob', { pattern: '**/*.ts', limit: 5 }, `${ALL} files (the first 5 are shown)`],
  ['glob', { pattern: '{flat,many/**}/*{1,2,3}*.{ts,tsx,js}', limit: 5 }, 'files (the first 5 are shown)'],
  ['grep', { pattern: 'needle', name: '*.md' }, '0 matches in 0 files (0 files searched)'],
];

const BY_CONTENT: readonly Ask[] = [
  ['grep', { pattern: 'needle', limit: 5 }, `${ALL} matches in ${ALL} files`],
  ['grep', { pattern: 'n.+le$', regex: true, limit: 5 }, `${ALL} matches in ${ALL} files`],
];

/** The CPU time of a command, in milliseconds. */
function cpuOfCommand(command: string): number {
  const timed = `TIMEFORMAT='%U %S'; time ${command} > /dev/null`;
  const { stderr } = spawnSync('bash', ['-c', timed], { cwd: root, encoding: 'utf8' });
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(' ').map(Number);
  return (user + system) * 1_000;
}

/** How often two times are measured at least, and at most. */
const [ROUNDS_MIN, ROUNDS_MAX] = [3, 15];

/**
 * The ratio of two CPU times, measured in turn, each the least of its measurements: what else the machine does only adds to
 * them. So more are taken for as long as the ratio is not below a bound.
 */
async function ratioOf(
  one: () => number | Promise<number>,
  other: () => number | Promise<number>,
  bound: number,
): Promise<number> {
  let [first, second] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS_MAX; round++) {
    first = Math.min(first, await one());
    second = Math.min(second, await other());
    if (round + 1 >= ROUNDS_MIN && first / second < bound) break;
  }
  return first / second;
}

/** The most CPU time between two turns of the event loop while a function ran, in milliseconds. */
async function longestTurn(body: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = cpuMs();
  const timer = setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await body();
  clearInterval(timer);
  return longest;
}

/** The CPU time that a call goes on to take after it was aborted, in milliseconds. */
async function cpuAfterStop(call: (signal: AbortSignal) => Promise<unknown>, afterMs: number): Promise<number> {
  const stop = new AbortController();
  const answer = call(stop.signal).then(
    () => 'finished',
    (error: unknown) => error,
  );
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  return cpuMsOf(async () => {
    stop.abort(new Error('stopped'));
    expect(await answer).toEqual(new Error('stopped'));
  });
}

describe(`a folder of ${ALL} files`, () => {
  it.each([...BY_NAME, ...BY_CONTENT])(
    'all files of a large folder are counted by %s %j, and a few are shown [TOOL-30]',
    async (name, args, heading) => {
      const lines = String(await start(name, args, free)).split('\n');
      expect(lines[0]).toContain(heading);
      expect(lines.length - 1).toBe(args.name === undefined ? args.limit : 0);
    },
  );

  it('listings and searches by name take at most ten times the CPU time of find [TOOL-30]', async () => {
    const ratios: Record<string, number> = {};
    for (const [name, args] of BY_NAME) {
      const cpu = () => cpuMsOf(() => start(name, args, free));
      const ratio = await ratioOf(cpu, () => cpuOfCommand('find . -type f'), 10);
      ratios[`${name} ${JSON.stringify(args)}`] = Math.round(ratio * 10) / 10;
    }
    console.log(`CPU time beside find: ${JSON.stringify(ratios)}`);
    expect(Object.values(ratios).filter((ratio) => ratio > 10)).toEqual([]);
  });

  it('a search takes twice the time for twice the files, and at most ten times the CPU time of grep [TOOL-30]', async () => {
    const [name, args] = BY_CONTENT[0] as Ask;
    const half = () => cpuMsOf(() => start(name, { ...args, path: 'flat' }, free));
    const whole = () => cpuMsOf(() => start(name, args, free));
    expect(await ratioOf(whole, half, 3)).toBeLessThan(3);
    expect(await ratioOf(whole, () => cpuOfCommand('grep -rn needle .'), 10)).toBeLessThan(10);
  });

  it.each([...BY_NAME, ...BY_CONTENT])(
    'the tool %s %j stops within a second of CPU time when it is aborted [TOOL-30]',
    async (name, args) => {
      for (const afterMs of [0, 5, 15]) {
        expect(await cpuAfterStop((signal) => start(name, args, signal), afterMs)).toBeLessThan(1_000);
      }
    },
  );

  it.each([...BY_NAME, ...BY_CONTENT])('the event loop stays free during %s %j', async (name, args) => {
    const longest = await longestTurn(() => start(name, args, free));
    expect(longest).toBeLessThan(1_000); // a slice is 10 ms, and other threads count too
  });

  it('entries that are only counted are not examined', async () => {
    const place = { real: root, names: [], shown: '.' };
    const notes = newNotes();
    const types = new Set<string>();
    for await (const entries of walk(place, { depth: 9, ignore: [], signal: free }, notes)) {
      for (const entry of entries) types.add(entry.type);
    }
    expect([...types].sort()).toEqual(['dir', 'file']);
    expect(notes.complete).toBe(true);
    expect(ENTRIES).toBeLessThan(WALK_ENTRIES_MAX);
  });
});

describe('a huge file', () => {
  it.each([
    ['read_file', { path: 'lines.txt', offset: 9_000_000 }],
    ['read_file', { path: 'binary.bin' }],
    ['grep', { path: 'one-line.txt', pattern: '(a+)+$x', regex: true }],
    ['write_file', { path: 'sparse.txt', text: 'new' }],
  ])('the tool %s %j stops within a second of CPU time when it is aborted [TOOL-30]', async (name, args) => {
    const call = (signal: AbortSignal) => start(name, args, signal, huge);
    if (name === 'grep') expect(await longestTurn(() => call(free))).toBeLessThan(1_000);
    else expect(await cpuAfterStop(call, 5)).toBeLessThan(1_000);
  });
});

describe('what a bound cuts off', () => {
  it(`more than ${WALK_ENTRIES_MAX} entries are reported as at least that many, by every tool [TOOL-30]`, async () => {
    const wide = mkdtempSync(path.join(tmpdir(), 'reprise-wide-'));
    const inner = path.join(wide, 'inner');
    mkdirSync(inner);
    manyFiles(WALK_ENTRIES_MAX + 10, '', (i) => path.join(inner, `${i}`));
    writeFileSync(path.join(wide, 'a.ts'), 'needle');
    writeFileSync(path.join(inner, 'z.ts'), 'needle');
    const first = async (name: string, args: object) => String(await start(name, args, free, wide)).split('\n')[0];
    const more = `stopped after ${WALK_ENTRIES_MAX} entries, there are more`;
    expect(await first('list_files', { depth: 2, limit: 3 })).toBe(
      `Folder . (at least ${WALK_ENTRIES_MAX} entries; ${more}; at least ${WALK_ENTRIES_MAX - 3} more not listed: list a subfolder, or raise limit)`,
    );
    expect(await first('glob', { pattern: '**/*.ts' })).toBe(`at least 1 files (${more})`);
    expect(await first('grep', { pattern: 'needle', name: '*.ts' })).toBe(
      `at least 1 matches in 1 files (1 files searched; ${more})`,
    );
    spawnSync('rm', ['-r', wide]);
  });

  it(`folders below level ${WALK_DEPTH_MAX} are counted by searches, not passed over in silence [TOOL-30]`, async () => {
    const deep = mkdtempSync(path.join(tmpdir(), 'reprise-deep-'));
    mkdirSync(path.join(deep, ...Array<string>(WALK_DEPTH_MAX + 2).fill('d')), { recursive: true });
    for (const [name, args] of [
      ['glob', { pattern: '**' }],
      ['grep', { pattern: 'x' }],
    ] as const) {
      expect(String(await start(name, args, free, deep))).toContain('1 folders below level 32 not entered');
    }
    expect(String(await start('list_files', { depth: 2 }, free, deep))).not.toContain('below level');
    rmSync(deep, { recursive: true });
  });
});
