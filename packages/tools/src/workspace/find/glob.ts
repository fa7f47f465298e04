import { defineTool, type Tool } from '@reprise/agent';
import * as z from 'zod';
import { refusal } from '../folder/confine.js';
import type { WorkspaceContext } from '../folder/context.js';
import { refusing } from '../folder/refusing.js';
import { showPath } from '../folder/text.js';
import { pathPattern } from './path-pattern.js';
import { counted, describeNotes, newNotes, walk } from './walk.js';

const LIMIT_DEFAULT = 200;
const LIMIT_MAX = 1_000;

const args = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(512)
    .describe('Path pattern: * within a name, ** for any folders, {a,b} for either. For example src/**/*.{ts,tsx}.'),
  path: z.string().max(4096).default('.').describe('Folder that the pattern starts at. Default: the workspace itself.'),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe(`Most files. Default ${LIMIT_DEFAULT}.`),
});

type Ask = z.output<typeof args>;

/** Makes the tool `glob`: files whose paths match a pattern, one per line, in the order of a listing. */
export function glob(context: WorkspaceContext): Tool {
  return defineTool({
    name: 'glob',
    description: 'Finds files of the workspace by their paths. After a heading, one path per line.',
    args,
    guarantee: 'idempotent',
    family: 'search',
    run: (ask, { signal }) => refusing(() => find(context, ask, signal)),
  });
}

async function find(context: WorkspaceContext, ask: Ask, signal: AbortSignal): Promise<string> {
  const pattern = pathPattern(ask.pattern);
  if (pattern === undefined) throw refusal(ask.pattern, 'the pattern has an unclosed brace or too many alternatives');
  const place = await context.confinement.resolve(ask.path, 'read');
  if (place.missing.length > 0) throw refusal(ask.path, 'there is no such folder');
  const notes = newNotes();
  const inside = relativeTo(place.names.length);
  const enters = (folder: readonly string[]): boolean => pattern.matchesInside(inside(folder));
  const found: string[] = [];
  let more = 0;
  for await (const entries of walk(place, { ignore: context.ignore, enters, signal }, notes)) {
    for (const entry of entries) {
      if (entry.type !== 'file' || !pattern.matches(inside(entry.folder), entry.name)) continue;
      if (found.length < ask.limit) found.push(showPath(entry.shown));
      else more += 1;
    }
  }
  const parts = [...describeNotes(notes), ...(more > 0 ? [`the first ${ask.limit} are shown`] : [])];
  const total = `${counted(found.length + more, !notes.complete)} files`;
  return [parts.length === 0 ? total : `${total} (${parts.join('; ')})`, ...found].join('\n');
}

/** Names of a folder without the first ones; the same list again for the same folder. */
function relativeTo(skipped: number): (folder: readonly string[]) => readonly string[] {
  let last: readonly string[] | undefined;
  let rest: readonly string[] = [];
  return (folder) => {
    if (skipped === 0) return folder;
    if (last !== folder) rest = folder.slice(skipped);
    last = folder;
    return rest;
  };
}
