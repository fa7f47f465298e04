/** The tools by which models share, find and judge what their groups remember. Texts are stored, and the calls hold their links. */
import { defineOwnerTool, type Tool } from '@reprise/agent';
import type { ValueMap } from '@reprise/contracts';
import { keptArgs } from '../served/kept.js';
import { SOCIETY_TOOLS } from '../wire/index.js';

const NAMES = [
  'memory_write_warm',
  'memory_read_warm',
  'memory_search',
  'memory_share',
  'memory_assess',
  'memory_validate',
] as const;

function toolOf(name: (typeof NAMES)[number]): Tool {
  const { description, input } = SOCIETY_TOOLS[name];
  return defineOwnerTool({
    ...{ name, description, args: input },
    keep: (args: ValueMap, { content, session }: Parameters<Keep>[1]) =>
      keptArgs(name, args, { content, id: session.key }),
  } as never);
}

type Keep = NonNullable<Parameters<typeof defineOwnerTool>[0]['keep']>;

/** What agents use to write items, to read, search and share them, and to judge those of others. */
export const groupTools: readonly Tool[] = NAMES.map(toolOf);
