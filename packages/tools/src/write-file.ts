import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Tool } from '@reprise/agent';
import { defineTool } from '@reprise/agent';
import * as z from 'zod';
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
  if (place.names.length === 0) throw refusal(ask.path, 'it is the workspace folder itself');
  const folder = path.dirname(place.real);
  await makeFolder(folder, ask.path);
  const { before, mode } = await present(place.real, ask.path);
  const bytes = Buffer.from(ask.text, 'utf8');
  await replace(place.real, bytes, mode, ask.path);
  const after = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return `Wrote ${showPath(place.shown)} (${bytes.length} bytes; before ${before}; after ${after})`;
}

/** Makes the folder and looks again where it really is: a name on the way may have become a symlink meanwhile. */
async function makeFolder(folder: string, given: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await realpath(folder)) === folder) return;
  } catch (error) {
    throw refusal(given, systemReason(error));
  }
  throw refusal(given, 'it changed while it was being written');
}

/** What stands at the place: nothing, or a regular file that may be replaced. */
async function present(real: string, given: string): Promise<{ before: string; mode: number }> {
  const stats = await lstat(real).catch(() => undefined);
  if (stats === undefined) return { before: 'absent', mode: 0o644 };
  if (!stats.isFile()) throw refusal(given, stats.isDirectory() ? 'it is a folder' : 'it is not a regular file');
  if (stats.size > BEFORE_BYTES_MAX) return { before: 'too large to digest', mode: stats.mode };
  const bytes = await readFile(real).catch((error: unknown) => {
    throw refusal(given, systemReason(error));
  });
  return { before: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, mode: stats.mode };
}

/** Writes beside the place, makes that durable, and renames it there. */
async function replace(real: string, bytes: Uint8Array, mode: number, given: string): Promise<void> {
  const folder = path.dirname(real);
  const temporary = path.join(folder, `.reprise-${randomUUID()}.tmp`);
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o777);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, real);
    await syncFolder(folder);
  } catch (error) {
    await rm(temporary, { force: true });
    throw refusal(given, systemReason(error));
  }
}

/** Makes the rename durable. Windows cannot open a folder; there the file system's own journal has to do. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => undefined);
  if (handle === undefined) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
