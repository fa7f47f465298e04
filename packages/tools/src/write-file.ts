import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Tool } from '@reprise/agent';
import { defineTool } from '@reprise/agent';
import { isRepriseError } from '@reprise/contracts';
import * as z from 'zod';
import type { Anchor } from './anchor.js';
import type { Confinement } from './confine.js';
import { refusal, systemReason } from './confine.js';
import type { WorkspaceContext } from './context.js';
import { refusing } from './refusing.js';
import { showPath } from './text.js';

/** The largest text one call writes; what a model can produce in one answer is far below. */
const TEXT_UNITS_MAX = 4 * 1024 * 1024;

/** Above this the digest of what was there before is not computed: a bound on memory. */
const BEFORE_BYTES_MAX = 64 * 1024 * 1024;

const args = z.strictObject({
  path: z.string().min(1).max(4096).describe('File, relative to the workspace. Folders on the way are made.'),
  text: z.string().max(TEXT_UNITS_MAX).describe('The whole new content of the file.'),
});

type Ask = z.output<typeof args>;

/**
 * The tool `write_file`: replaces a file whole, or makes it. Whoever reads it meanwhile sees the old content or the
 * new one, never a part; two writers end with the content of one of them.
 */
export function writeFile(context: WorkspaceContext): Tool {
  return defineTool({
    name: 'write_file',
    description:
      'Writes a text file of the workspace, replacing what was there. Answers with the size and the sha256 before and after.',
    args,
    delivery: 'at_most_once',
    run: (ask) => refusing(() => write(context.confinement, ask)),
  });
}

async function write(confinement: Confinement, ask: Ask): Promise<string> {
  const place = await confinement.resolve(ask.path, 'write');
  const name = place.names.at(-1);
  if (name === undefined) throw refusal(ask.path, 'it is the workspace folder itself');
  let folder: Anchor | undefined;
  try {
    folder = await makeFolder(confinement, place, ask.path);
    const { before, mode } = await present(folder.path(name), ask.path);
    const bytes = Buffer.from(ask.text, 'utf8');
    await replace(folder, name, bytes, mode);
    return `Wrote ${showPath(place.shown)} (${bytes.length} bytes; before ${before}; after ${digest(bytes)})`;
  } catch (error) {
    throw isRepriseError(error) ? error : refusal(ask.path, systemReason(error));
  } finally {
    await folder?.close();
  }
}

/** Makes the folders that are missing, one inside the other, each through the open one above it. */
async function makeFolder(confinement: Confinement, place: Missing, given: string): Promise<Anchor> {
  const missing = place.missing.slice(0, -1);
  const depth = place.missing.length === 0 ? 1 : place.missing.length;
  let folder = await confinement.anchor(path.resolve(place.real, ...Array<string>(depth).fill('..')), given);
  for (const name of missing) {
    const inner = await makeInside(folder, name).finally(folder.close.bind(folder));
    if (inner === undefined) throw refusal(given, 'it changed while it was being written');
    folder = inner;
  }
  return folder;
}

type Missing = Awaited<ReturnType<Confinement['resolve']>>;

async function makeInside(folder: Anchor, name: string): Promise<Anchor | undefined> {
  await mkdir(folder.path(name)).catch((error: unknown) => {
    // Somebody else made it in the same moment: good, if it is a folder, and `enter` will tell.
    if ((error as { code?: unknown } | null)?.code !== 'EEXIST') throw error;
  });
  return folder.enter(name);
}

/** What stands at the place: nothing, or a regular file that may be replaced. */
async function present(file: string, given: string): Promise<{ before: string; mode: number }> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined) return { before: 'absent', mode: 0o644 };
  if (!stats.isFile()) throw refusal(given, stats.isDirectory() ? 'it is a folder' : 'it is not a regular file');
  if (stats.size > BEFORE_BYTES_MAX) return { before: 'too large to digest', mode: stats.mode };
  return { before: digest(await readFile(file)), mode: stats.mode };
}

/** Writes beside the place, makes that durable, and renames it there. */
async function replace(folder: Anchor, name: string, bytes: Uint8Array, mode: number): Promise<void> {
  const temporary = folder.path(`.reprise-${randomUUID()}.tmp`);
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o777);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, folder.path(name));
    await folder.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function digest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
