/** Restoring files: a real folder, and a real world whose model writes into it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defineAgent, defineTool } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { openWorld } from 'reprise';
import { type ScriptStep, script } from 'reprise/providers';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { fileHistory, processes, restoreFiles, workspace } from '../src/index.js';
import { sandbox } from './sandbox.js';

const write = (file: string, text: string) => ({ calls: [{ tool: 'write_file', args: { path: file, text } }] });
const edit = (file: string, old: string, wanted: string) => ({
  calls: [{ tool: 'edit_file', args: { path: file, old, new: wanted } }],
});
const run = (...argv: string[]) => ({ calls: [{ tool: 'run_process', args: { argv } }] });

const KEY = 'hunter2-hunter2';
const secrets = async () => KEY;

/** A tool that reads a secret, so that the world knows its value. */
const signIn = defineTool({
  name: 'sign_in',
  description: '',
  args: z.strictObject({}),
  run: async (_, ctx) => {
    await ctx.secret('key');
    return 'signed in';
  },
});
const know = { calls: [{ tool: 'sign_in', args: {} }] };

/** A world with one run for each step, and the frame after each run. */
async function worked(files: Record<string, string>, ...steps: readonly ScriptStep[]) {
  const { root, outside } = sandbox(files);
  const tools = [...workspace({ root }), ...processes({ root, approval: 'never' }), signIn];
  const agent = defineAgent({ name: 'a', model: 'm', instructions: '', tools });
  const model = script(...steps.flatMap((step) => [step, { text: 'done' }]));
  const world = await openWorld({ store: memory(), models: { m: model }, agents: [agent], secrets });
  const frames = [0];
  for (const i of steps.keys()) {
    await (await world.session('s', agent).send(`step ${i}`)).text();
    await world.pump();
    frames.push(world.kernel.head.seq);
  }
  const read = (name: string) =>
    existsSync(path.join(root, name)) ? readFileSync(path.join(root, name), 'utf8') : null;
  return { root, outside, world, frames, read };
}

describe('restoring files', () => {
  it('each file gets its state at the frame: changed files are restored, created files removed, others untouched', async () => {
    const { root, world, frames, read } = await worked(
      { 'a.txt': 'one', 'other.txt': 'mine' },
      edit('a.txt', 'one', 'two'),
      write('made/b.txt', 'b'),
      edit('a.txt', 'two', 'three'),
    );
    const at = (n: number) => restoreFiles(world.kernel, { at: frames[n] ?? 0, root });
    expect((await at(3)).files.map(({ how }) => how)).toEqual(['as_it_was', 'as_it_was']);
    expect(await restoreFiles(world.kernel, { at: frames[1] ?? 0, root, dryRun: true })).toMatchObject({
      files: [
        { path: 'a.txt', how: 'written' },
        { path: 'made/b.txt', how: 'removed' },
      ],
      unseen: [],
    });
    expect([read('a.txt'), read('made/b.txt')]).toEqual(['three', 'b']); // a dry run changes nothing
    await at(1);
    expect([read('a.txt'), read('made/b.txt')]).toEqual(['two', null]);
    await at(0);
    expect(read('a.txt')).toBe('one');
    await at(3); // and forward again
    expect([read('a.txt'), read('made/b.txt'), read('other.txt')]).toEqual(['three', 'b', 'mine']);
    await world.close();
  });

  it('content that was written by others since is kept and reported', async () => {
    const { root, world, frames, read } = await worked(
      { 'a.txt': 'one' },
      edit('a.txt', 'one', 'two'),
      write('b.txt', 'b'),
    );
    writeFileSync(path.join(root, 'a.txt'), 'by hand');
    writeFileSync(path.join(root, 'b.txt'), 'by hand too');
    const { files } = await restoreFiles(world.kernel, { at: frames[0] ?? 0, root });
    expect(files.map(({ how, why }) => [how, why])).toEqual([
      ['kept', 'it was changed since, and not by a recorded call'],
      ['kept', 'it was changed since, and not by a recorded call'],
    ]);
    expect([read('a.txt'), read('b.txt')]).toEqual(['by hand', 'by hand too']);
    await world.close();
  });

  it('files can be restored into another folder, and nothing outside of it changes', async () => {
    const { outside, world, frames } = await worked(
      { 'a.txt': 'one' },
      edit('a.txt', 'one', 'two'),
      write('d/b.txt', 'b'),
    );
    const other = path.join(outside, 'other');
    mkdirSync(other);
    await restoreFiles(world.kernel, { at: frames[2] ?? 0, root: other });
    expect(readFileSync(path.join(other, 'a.txt'), 'utf8')).toBe('two');
    expect(readFileSync(path.join(other, 'd/b.txt'), 'utf8')).toBe('b');
    await world.close();
  });

  it('calls after the frame whose changes are unknown are listed', async () => {
    const { root, world, frames } = await worked(
      { 'a.txt': 'one' },
      run('node', '-e', 'require("fs").writeFileSync("p.txt", "x")'),
      edit('a.txt', 'one', 'two'),
      edit('a.txt', 'not there', 'x'), // the edit was refused: it changed nothing, and is not listed
      { calls: [{ tool: 'read_file', args: { path: 'a.txt' } }] },
    );
    const { unseen } = await restoreFiles(world.kernel, { at: frames[0] ?? 0, root });
    expect(unseen).toMatchObject([{ tool: 'run_process', session: 's', status: 'ok' }]);
    expect(existsSync(path.join(root, 'p.txt'))).toBe(true);
    expect((await restoreFiles(world.kernel, { at: frames[1] ?? 0, root })).unseen).toEqual([]);
    const { changes } = await fileHistory(world.kernel);
    expect(changes.map(({ path: file, tool }) => [file, tool])).toEqual([['a.txt', 'edit_file']]);
    await world.close();
  });

  it('content that held a secret is not restored, and the file stays as it is [TOOL-42]', async () => {
    const { root, world, frames, read } = await worked(
      { 'env.txt': `key=${KEY}\nmode=a\n`, 'plain.txt': 'key=[secret]\nmode=a\n' },
      know,
      edit('env.txt', 'mode=a', 'mode=b'),
      edit('plain.txt', 'mode=a', 'mode=b'),
      write('env.txt', 'mode=c\n'),
    );
    const at = (n: number, dryRun = false) => restoreFiles(world.kernel, { at: frames[n] ?? 0, root, dryRun });
    const why = 'its earlier content held a secret, which is not in the journal';
    for (const dryRun of [true, false]) {
      expect((await at(0, dryRun)).files).toEqual([
        { path: 'env.txt', how: 'kept', why },
        { path: 'plain.txt', how: 'written' },
      ]);
    }
    expect([read('env.txt'), read('plain.txt')]).toEqual(['mode=c\n', 'key=[secret]\nmode=a\n']);
    expect((await at(3)).files[0]).toEqual({ path: 'env.txt', how: 'kept', why }); // still a secret
    expect((await at(4)).files.map(({ how }) => how)).toEqual(['as_it_was', 'as_it_was']);
    await world.close();
  });

  it('a file with a secret that the journal does not know is kept', async () => {
    const { root, world, frames, read } = await worked(
      { 'env.txt': `key=${KEY}\nmode=a\n` },
      know,
      write('env.txt', 'mode=b\n'),
      write('env.txt', 'mode=c\n'),
    );
    writeFileSync(path.join(root, 'env.txt'), `key=${KEY}\nmode=a\n`);
    const { files } = await restoreFiles(world.kernel, { at: frames[2] ?? 0, root });
    expect(files).toEqual([{ path: 'env.txt', how: 'kept', why: 'it was changed since, and not by a recorded call' }]);
    expect(read('env.txt')).toContain(KEY);
    await world.close();
  });

  it('a frame that does not exist is refused', async () => {
    const { root, world } = await worked({ 'a.txt': 'one' }, write('b.txt', 'b'));
    await expect(restoreFiles(world.kernel, { at: 10_000, root })).rejects.toThrow(
      /invalid_argument: invalid option "at": the world has no such frame/,
    );
    await world.close();
  });
});
