import { defineTool, type Tool, type ToolContext, utf16Of } from '@reprise/agent';
import * as z from 'zod';
import { refusal } from '../folder/confine.js';
import type { WorkspaceContext } from '../folder/context.js';
import { refusing } from '../folder/refusing.js';
import { SNIFF_BYTES, showPath } from '../folder/text.js';
import { replaced, spansOf } from './line-ends.js';
import { fileResource, openPlace } from './write-place.js';

/** The largest file that is edited, in bytes: its old and its new content are in memory. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const TEXT_UNITS_MAX = 1024 * 1024;

const args = z.strictObject({
  path: z.string().min(1).max(4096).describe('File, relative to the workspace.'),
  old: z
    .string()
    .min(1)
    .max(TEXT_UNITS_MAX)
    .describe('The text to replace, exactly as in the file, including line breaks.'),
  new: z.string().max(TEXT_UNITS_MAX).describe('What to put in its place.'),
  all: z.boolean().default(false).describe('Replaces every occurrence. Default: the text must occur once.'),
});

type Ask = z.output<typeof args>;

/** Makes the tool `edit_file`: replaces a text that occurs exactly once in a file, or everywhere. */
export function editFile(context: WorkspaceContext): Tool {
  return defineTool({
    name: 'edit_file',
    description:
      'Replaces a text in a text file of the workspace. The text must occur exactly once, so include enough of its surroundings, or set all.',
    args,
    guarantee: 'at_most_once',
    family: 'edit',
    resource: fileResource,
    approval: context.approval,
    run: (ask, ctx) => refusing(() => edit(context, ask, ctx)),
  });
}

async function edit(context: WorkspaceContext, ask: Ask, ctx: ToolContext): Promise<string> {
  const place = await openPlace(context.confinement, ask.path, 'change');
  try {
    const before = await place.read(FILE_BYTES_MAX);
    const { text, encode } = decoded(before, ask.path);
    const spans = spansOf(text, ask.old);
    const count = spans.length;
    if (count === 0) throw refusal(ask.path, 'the text does not occur in the file');
    if (count > 1 && !ask.all)
      throw refusal(ask.path, `the text occurs ${count} times; include more of its surroundings, or set all`);
    const after = encode(replaced(text, spans, ask));
    const change = await place.replace(after, ctx);
    const places = count === 1 ? 'once' : `${count} times`;
    return `Edited ${showPath(place.shown)} (replaced ${places}; ${after.length} bytes; before ${change.before_ref}; after ${change.after_ref})`;
  } finally {
    await place.close();
  }
}

/** A text, and what writes it in the encoding of its file. */
interface Decoded {
  readonly text: string;
  encode(text: string): Uint8Array;
}

/**
 * Decodes text that encodes back to the same bytes; an edit of any other file would damage parts outside of the edit.
 */
function decoded(bytes: Uint8Array, given: string): Decoded {
  const encoding = utf16Of(bytes.subarray(0, SNIFF_BYTES));
  const encode = encoding === undefined ? (text: string) => new TextEncoder().encode(text) : utf16Writer(encoding);
  try {
    const text = new TextDecoder(encoding ?? 'utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (Buffer.compare(encode(text), bytes) === 0) return { text, encode };
  } catch {
    // It is refused below.
  }
  throw refusal(given, 'it is not UTF-8 text, and not UTF-16');
}

function utf16Writer(encoding: 'utf-16le' | 'utf-16be'): (text: string) => Uint8Array {
  return (text) => {
    const bytes = Buffer.from(text, 'utf16le');
    return encoding === 'utf-16le' ? bytes : bytes.swap16();
  };
}
