/** Reads the tools of a request from the lists that it links. */
import { type Ref, RepriseError, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import type { UnifiedTool } from '../model/model.js';
import type { PromptMemory } from './memory.js';

// Loose on purpose: a definition holds more about a tool than a model sees.
const toolList = z.array(z.object({ name: z.string(), description: z.string(), schema: value() }));

/**
 * Reads lists of tools as one list, ordered by name: the same tools give the same bytes.
 *
 * @param memory what earlier calls have read: the lists of an agent are the same at each call
 * @returns at once where the memory has all of them
 * @throws RepriseError `invalid_value` when a blob is not a list of tools
 */
export function readTools(
  content: ContentReader,
  links: readonly Ref[],
  memory?: PromptMemory,
): UnifiedTool[] | Promise<UnifiedTool[]> {
  const read = (link: Ref) =>
    memory === undefined ? readList(content, link) : memory.tools(link, () => readList(content, link));
  const lists = links.map(read);
  return lists.every(isRead) ? byName(lists) : Promise.all(lists).then(byName);
}

function isRead(list: ToolList | Promise<ToolList>): list is ToolList {
  return !(list instanceof Promise);
}

function byName(lists: readonly ToolList[]): UnifiedTool[] {
  return lists.flat().sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

type ToolList = readonly UnifiedTool[];

async function readList(content: ContentReader, link: Ref): Promise<readonly UnifiedTool[]> {
  const parsed = toolList.safeParse(await getValue(content, link));
  if (parsed.success) return parsed.data;
  throw new RepriseError('invalid_value', 'this blob is not a list of tools', {
    where: link.toString(),
    expected: 'a list of {name, description, schema}',
    cause: parsed.error,
  });
}
