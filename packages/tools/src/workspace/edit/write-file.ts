import { defineTool, type Tool, type ToolContext } from '@reprise/agent';
import * as z from 'zod';
import type { Confinement } from '../folder/confine.js';
import type { WorkspaceContext } from '../folder/context.js';
import { refusing } from '../folder/refusing.js';
import { showPath } from '../folder/text.js';
import { fileResource, openPlace } from './write-place.js';

/** The longest text of one call; a model's answer is far shorter. */
const TEXT_UNITS_MAX = 4 * 1024 * 1024;

const args = z.strictObject({
  path: z.string().min(1).max(4096).describe('File, relative to the workspace. Folders on the way are made.'),
  text: z.string().max(TEXT_UNITS_MAX).describe('The whole new content of the file.'),
});

type Ask = z.output<typeof args>;

/** Makes the tool `write_file`: creates or replaces a file. */
export function writeFile(context: WorkspaceContext): Tool {
  return defineTool({
    name: 'write_file',
    description:
      'Writes a text file of the workspace, replacing what was there. Answers with the size and the sha256 before and after.',
    args,
    guarantee: 'at_most_once',
    family: 'edit',
    resource: fileResource,
    approval: context.approval,
    run: (ask, ctx) => refusing(() => write(context.confinement, ask, ctx)),
  });
}

async function write(confinement: Confinement, ask: Ask, ctx: ToolContext): Promise<string> {
  const place = await openPlace(confinement, ask.path, 'make');
  try {
    const bytes = new TextEncoder().encode(ask.text);
    const { before_ref, after_ref } = await place.replace(bytes, ctx);
    return `Wrote ${showPath(place.shown)} (${bytes.length} bytes; before ${before_ref ?? 'absent'}; after ${after_ref})`;
  } finally {
    await place.close();
  }
}
