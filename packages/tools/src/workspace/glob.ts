import { defineTool, type Tool } from '@reprise/agent';
import * as z from 'zod';
import { refusal } from './confine.js';
import type { WorkspaceContext } from './context.js';
import { expandBraces, matchesPath } from './path-pattern.js';
import { refusing } from './refusing.js';
import { showPath } from './text.js';
import { describeNotes, newNotes, walk } from './walk.js';

const LIMIT_DEFAULT = 200;
const LIMIT_MAX = 1_000;
const DEPTH_MAX = 32;

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
  const patterns = expandBraces(ask.pattern);
  if (patterns === undefined) throw refusal(ask.pattern, 'the pattern has an unclosed brace or too many alternatives');
  const place = await context.confinement.resolve(ask.path, 'read');
  if (place.missing.length > 0) throw refusal(ask.path, 'there is no such folder');
  const notes = newNotes();
  const found: string[] = [];
  let more = 0;
  for await (const entry of walk(place, { depth: DEPTH_MAX, ignore: context.ignore, signal }, notes)) {
    const names = entry.shown.split('/').slice(place.names.length);
    if (entry.type !== 'file' || !patterns.some((pattern) => matchesPath(names, pattern))) continue;
    if (found.length < ask.limit) found.push(showPath(entry.shown));
    else more += 1;
  }
  const parts = [...describeNotes(notes), ...(more > 0 ? [`the first ${ask.limit} are shown`] : [])];
  const total = `${found.length + more} files`;
  return [parts.length === 0 ? total : `${total} (${parts.join('; ')})`, ...found].join('\n');
}
