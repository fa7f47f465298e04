/**
 * Replaces a folder or a file of the workspace with a link that leads out, between two system calls of a tool: at each
 * of them in turn. At every moment, nothing outside is read, listed or written.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getBytes } from '@reprise/kernel';
import { describe, expect, it, vi } from 'vitest';
import { caller } from './sandbox.js';

/** Called before each system call of the tools, with the planted defects that the swaps must find. */
const system = vi.hoisted(() => ({
  before: () => {},
  /** Opening a file follows a link at its end. */
  follows: false,
  /** An open folder is assumed to be at its old path. */
  believes: false,
}));

/** Wraps every function of a file system module to announce its calls. */
const watched = vi.hoisted(() => (real: object) => {
  const opened = new Map<unknown, string>();
  const { O_NOFOLLOW } = (real as { constants: { O_NOFOLLOW: number } }).constants;
  const wrap = (name: string, call: (...given: unknown[]) => unknown) =>
    Object.assign((...args: unknown[]) => {
      system.before();
      const [place, flags] = args as [string, unknown];
      if (name === 'readlinkSync' && system.believes) return opened.get(Number(place.split('/').at(-1)));
      if (typeof flags === 'number' && name.startsWith('open') && system.follows) args[1] = flags & ~O_NOFOLLOW;
      const answer = call(...args);
      if (name === 'openSync') opened.set(answer, place);
      return answer;
    }, call);
  return Object.fromEntries(
    Object.entries(real).map(([name, thing]) => [
      name,
      typeof thing === 'function' && !/^[A-Z]/.test(thing.name) ? wrap(name, thing) : thing,
    ]),
  );
});
vi.mock('node:fs', async (original) => {
  const wrapped = watched(await original<object>());
  return { ...wrapped, default: wrapped };
});
vi.mock('node:fs/promises', async (original) => watched(await original<object>()));

/** The entries to replace with a link, and the link's targets, in the workspace `work` and beside it. */
const SWAPS: readonly (readonly [string, string, string])[] = [
  ['a middle folder', 'top/middle', 'outside/middle'],
  ['the folder at the top', 'top', 'outside'],
  ['the last folder', 'top/middle/last', 'outside/middle/last'],
  ['the file', 'top/middle/last/file.txt', 'outside/middle/last/file.txt'],
];

const CALLS: readonly (readonly [string, Record<string, unknown>])[] = [
  ['read_file', { path: 'top/middle/last/file.txt' }],
  ['list_files', { path: 'top/middle/last' }],
  ['list_files', { depth: 9 }],
  ['grep', { path: 'top', pattern: 'SECRET' }],
  ['grep', { path: 'top/middle/last/file.txt', pattern: 'SECRET' }],
  ['glob', { pattern: '**' }],
  ['write_file', { path: 'top/middle/last/file.txt', text: 'written' }],
  ['write_file', { path: 'top/middle/last/new/new.txt', text: 'written' }],
  ['edit_file', { path: 'top/middle/last/file.txt', old: 'inside', new: 'written' }],
];

/** A workspace, and a folder beside it with the same structure. */
function scene() {
  const parent = realpathSync(mkdtempSync(path.join(tmpdir(), 'reprise-races-')));
  for (const [top, text] of [
    ['work/top', 'inside'],
    ['outside', 'SECRET'],
  ] as const) {
    mkdirSync(path.join(parent, top, 'middle/last'), { recursive: true });
    writeFileSync(path.join(parent, top, 'middle/last/file.txt'), text);
  }
  writeFileSync(path.join(parent, 'outside/middle/last/only-outside.txt'), 'SECRET');
  return parent;
}

/** Everything in the outside folder, with its bytes. */
const outsideOf = (parent: string): string[] =>
  readdirSync(path.join(parent, 'outside'), { recursive: true, withFileTypes: true }).map((entry) => {
    const file = path.join(entry.parentPath, entry.name);
    return entry.isFile() ? `${file}: ${readFileSync(file, 'utf8')}` : file;
  });

/**
 * Makes a call, and swaps before its system call number `at`. @returns the number of system calls, and what leaked out
 */
async function raced(at: number, swap: (typeof SWAPS)[number], [tool, args]: (typeof CALLS)[number]) {
  const parent = scene();
  const unharmed = outsideOf(parent);
  const [, inside, outside] = swap;
  const call = caller({ root: path.join(parent, 'work') });
  let calls = 0;
  system.before = () => {
    if (calls++ !== at) return;
    system.before = () => void calls++;
    renameSync(path.join(parent, 'work', inside), path.join(parent, 'moved'));
    symlinkSync(path.join(parent, outside), path.join(parent, 'work', inside));
  };
  const { text, receipt, content } = await call(tool, args);
  system.before = () => {};
  const kept = await Promise.all(
    (receipt.changes ?? []).map(async ({ before_ref }) => before_ref && getBytes(content, before_ref)),
  );
  const said = [text, ...kept.map((bytes) => new TextDecoder().decode(bytes ?? new Uint8Array()))].join('\n');
  const answer = said.replace(/^.*(SECRET" |matches in).*$/m, '');
  const leaks = [
    ...(/SECRET|only-outside/.test(answer) ? [said] : []),
    ...outsideOf(parent).filter((line) => !unharmed.includes(line)),
  ];
  rmSync(parent, { recursive: true });
  return { calls, leaks };
}

/** Repeats a call with the swap before each of its system calls. @returns what leaked out, and at which moments */
async function racedThrough(swap: (typeof SWAPS)[number], call: (typeof CALLS)[number]) {
  const leaks: string[] = [];
  let moments = 0;
  for (let at = 0; at <= moments; at++) {
    const round = await raced(at, swap, call);
    moments = Math.max(moments, round.calls);
    leaks.push(...round.leaks.map((leak) => `swapped before system call ${at}: ${leak}`));
  }
  return { leaks, moments };
}

describe.each(SWAPS)('while %s is replaced with a link that leads out', (...swap) => {
  it.each(CALLS)('the call %s %j stays inside, whichever system call the swap precedes [TOOL-26]', async (...call) => {
    const { leaks, moments } = await racedThrough(swap, call);
    expect(leaks).toEqual([]);
    expect(moments).toBeGreaterThan(5);
  });
});

describe.runIf(process.platform === 'linux')('planted defects that the swaps find', () => {
  it.each([
    ['a mutant that opens files through links is found', 'follows', SWAPS[3], CALLS[0]],
    ['a mutant that stores the earlier content through a link is found', 'follows', SWAPS[3], CALLS[6]],
    ['a mutant that searches files through links is found', 'follows', SWAPS[3], CALLS[3]],
    ['a mutant that reads a file without checking its open folder is found', 'believes', SWAPS[0], CALLS[0]],
    ['a mutant that writes a file without checking its open folder is found', 'believes', SWAPS[0], CALLS[7]],
    ['a mutant that lists a folder without checking it is found', 'believes', SWAPS[1], CALLS[1]],
  ] as const)('%s', async (_, defect, swap, call) => {
    system[defect] = true;
    try {
      const { leaks } = await racedThrough(swap as (typeof SWAPS)[number], call as (typeof CALLS)[number]);
      expect(leaks.length).toBeGreaterThan(0);
    } finally {
      system[defect] = false;
    }
  });
});
