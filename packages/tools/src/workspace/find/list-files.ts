import type { Tool } from '@reprise/agent';
import { defineTool } from '@reprise/agent';
import * as z from 'zod';
import { refusal } from '../folder/confine.js';
import type { WorkspaceContext } from '../folder/context.js';
import { refusing } from '../folder/refusing.js';
import { showPath, showTime } from '../folder/text.js';
import type { Entry, WalkNotes } from './walk.js';
import { counted, describeNotes, newNotes, WALK_DEPTH_MAX, walk } from './walk.js';

/** One listing has to fit the 16 KiB that a model reads of an answer: about 120 lines of 100 bytes. */
const LIMIT_DEFAULT = 120;
const LIMIT_MAX = 1_000;

const args = z.strictObject({
  path: z.string().max(4096).default('.').describe('Folder, relative to the workspace. Default: the workspace itself.'),
  depth: z.int().min(1).max(WALK_DEPTH_MAX).default(1).describe('How many levels to list. Default 1.'),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe(`Most entries. Default ${LIMIT_DEFAULT}.`),
});

/**
 * Makes the tool `list_files`: the entries of a folder with type, size and time, one per line:
 * `<type> <size> <mtime> <path>`.
 */
export function listFiles(context: WorkspaceContext): Tool {
  return defineTool({
    name: 'list_files',
    description:
      'Lists a folder of the workspace. After a heading, one line per entry: type (file, dir, link, other), size in bytes (- for a folder), time of last change (ISO, UTC), path relative to the workspace. Upper levels come first, names in byte order.',
    args,
    guarantee: 'idempotent',
    family: 'search',
    run: (ask, { signal }) => refusing(() => list(context, { ...ask, signal })),
  });
}

async function list(
  context: WorkspaceContext,
  ask: { path: string; depth: number; limit: number; signal: AbortSignal },
): Promise<string> {
  const place = await context.confinement.resolve(ask.path, 'read');
  if (place.missing.length > 0) throw refusal(ask.path, 'there is no such folder');
  const notes = newNotes();
  const lines: string[] = [];
  let more = 0;
  for await (const entries of walk(place, { depth: ask.depth, ignore: context.ignore, signal: ask.signal }, notes)) {
    for (const entry of entries) {
      const line = lines.length < ask.limit ? lineOf(entry) : undefined;
      if (line !== undefined) lines.push(line);
      else if (lines.length < ask.limit) notes.unreadable += 1;
      else more += 1;
    }
  }
  return [heading(place.shown, lines.length, more, notes), ...lines].join('\n');
}

function heading(shown: string, listed: number, more: number, notes: WalkNotes): string {
  const entries = listed === 1 && more === 0 ? '1 entry' : `${counted(listed + more, !notes.complete)} entries`;
  const parts = [listed + more === 0 ? 'empty' : entries, ...describeNotes(notes)];
  if (more > 0) parts.push(`${counted(more, !notes.complete)} more not listed: list a subfolder, or raise limit`);
  return `Folder ${showPath(shown)} (${parts.join('; ')})`;
}

/** An entry as one line; undefined when it no longer exists. */
function lineOf(entry: Entry): string | undefined {
  const stats = entry.stats();
  if (stats === undefined) return undefined;
  const size = entry.type === 'file' ? String(stats.size) : '-';
  return `${entry.type} ${size} ${showTime(Math.floor(stats.mtimeMs))} ${showPath(entry.shown)}`;
}
