/*
 * The worlds of the bench. They are kept from one run to the next, in a folder named by a digest of the sources that write
 * them: these are the kernel and agents, and nothing of the verbs that are measured.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../../lib/root.mjs';
import { bundleTree } from '../turns/bundle-tree.mjs';

const KEPT = path.join(ROOT, 'node_modules/.cache/reprise-bench-worlds');

/**
 * Makes three worlds, or finds them: a small one, a large one, and a large one whose newest snapshot is far back. The two
 * large ones have most of their past in common, so it is written once.
 *
 * @param {{ small: number, large: number, bare: number }} frames
 * @param {(args: string[]) => string} run runs a program, and returns what it printed
 * @param {string} verifier the file of the command that verifies each world that was made
 */
export async function madeWorlds({ small, large, bare }, run, verifier) {
  const inputs = [];
  const program = await bundleTree(ROOT, 'verbs', new URL('workload.mjs', import.meta.url), { inputs });
  const folder = path.join(KEPT, await digestOf(inputs));
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(KEPT))
    if (path.join(KEPT, name) !== folder) await rm(path.join(KEPT, name), { recursive: true, force: true });

  /** A world under a name. It gets its name when it is whole and verified: what was interrupted is made again. */
  const made = async (name, frames, { from, kind = 'settled' } = {}) => {
    const file = path.join(folder, `${name}.db`);
    if (existsSync(file)) return file;
    const draft = path.join(folder, 'draft.db');
    for (const end of ['', '-wal', '-shm', '-lock']) await rm(`${draft}${end}`, { force: true });
    if (from !== undefined) await copyFile(from, draft);
    run([program, draft, String(frames), kind]);
    run([verifier, 'verify', draft]);
    await rename(draft, file);
    return file;
  };
  const past = await made(`past-${large - bare}`, large - bare, { kind: 'any' });
  return [
    // As far from a snapshot as the large one: without any.
    { title: String(small), file: await made(`${small}-bare`, small, { kind: 'bare' }) },
    { title: String(large), file: await made(`${large}`, large, { from: past }) },
    { title: `${large}, bare`, file: await made(`${large}-${bare}`, large, { from: past, kind: 'bare' }) },
  ];
}

/** A digest of files. The bundler's own output differs from one run to the next. */
async function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n`).update(await readFile(path.join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}
