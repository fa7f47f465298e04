/**
 * Workspace tools on a folder with many files: each file costs one lookup, the event loop stays free, and a stop is
 * noticed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tool, ToolContext } from '@reprise/agent';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workspace } from '../src/index.js';
import { WALK_ENTRIES_MAX, walk } from '../src/workspace/walk.js';

const FILES = 20_000;
let root: string;

beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'reprise-large-'));
  mkdirSync(path.join(root, 'inner'));
  for (let i = 0; i < FILES; i++) writeFileSync(path.join(root, 'inner', `file-${i}.ts`), 'one\nneedle\n');
});

afterAll(() => rmSync(root, { recursive: true }));

const ASKS: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ['list_files', { depth: 9, limit: 5 }, `${FILES + 1} entries; ${FILES + 1 - 5} more not listed`],
  ['glob', { pattern: '**/*.ts', limit: 5 }, `${FILES} files (the first 5 are shown)`],
  ['grep', { pattern: 'needle', limit: 5 }, `${FILES} matches in ${FILES} files`],
  ['grep', { pattern: 'n.+le$', regex: true, limit: 5 }, `${FILES} matches in ${FILES} files`],
];

function start(name: string, args: object, signal: AbortSignal): Promise<unknown> {
  const tool = workspace({ root }).find((one) => one.name === name) as Tool;
  const given = (tool.args as unknown as { parse(args: object): never }).parse(args);
  return Promise.resolve(tool.run(given, { signal } as ToolContext<never>));
}

/** The longest delay of the event loop while a function ran, in milliseconds. */
async function longestWait(body: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await body();
  clearInterval(timer);
  return longest;
}

describe(`a folder of ${FILES} files`, () => {
  it.each(ASKS)(
    'all files of a large folder are counted by %s %j, and a few are shown [TOOL-30]',
    async (name, args, heading) => {
      const lines = String(await start(name, args, new AbortController().signal)).split('\n');
      expect(lines[0]).toContain(heading);
      expect(lines).toHaveLength(6);
    },
  );

  it.each(ASKS)('the tool %s %j stops within a second when it is aborted [TOOL-30]', async (name, args) => {
    const stop = new AbortController();
    const answer = start(name, args, stop.signal).then(
      () => 'finished',
      (error: unknown) => error,
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    const stopped = performance.now();
    stop.abort(new Error('stopped'));
    expect(await answer).toEqual(new Error('stopped'));
    expect(performance.now() - stopped).toBeLessThan(1_000);
  });

  it.each(ASKS)('the event loop stays free during %s %j', async (name, args) => {
    const waited = await longestWait(() => start(name, args, new AbortController().signal));
    expect(waited).toBeLessThan(1_000); // a slice is 10 ms; the rest is for a busy machine
  });

  it('entries that are only counted are not examined', async () => {
    const place = { real: root, names: [], shown: '.' };
    const notes = { secret: 0, unreadable: 0, ignored: 0, complete: true };
    const types = new Set<string>();
    const options = { depth: 9, ignore: [], signal: new AbortController().signal };
    for await (const entry of walk(place, options, notes)) types.add(entry.type);
    expect([...types].sort()).toEqual(['dir', 'file']);
    expect(notes.complete).toBe(true);
    expect(FILES).toBeLessThan(WALK_ENTRIES_MAX);
  });
});
