/** Executes `memory.search@1` and `memory.why@1` over the views of the world. */
import { type AgentWorld, type PartHost, putText } from '@reprise/agent';
import { type AnyAdapter, adapterOf, type ContentStore } from '@reprise/kernel';
import { provenanceOf } from '../handle/provenance.js';
import { type FoundRow, type SearchTerms, searchItems } from '../handle/search.js';
import { readItemText, showItems } from '../handle/texts.js';
import { type FoundItem, memorySearch, memoryWhy } from '../pure/store/index.js';

/** The adapters of the effects that read views. */
export function memoryAdapters(host: PartHost): readonly AnyAdapter[] {
  const search = adapterOf(memorySearch, {
    name: 'memory.search',
    async doExecute({ store, ...terms }, { content }) {
      const world: AgentWorld = await host.world;
      const found = await searchItems(await world.views(), store, terms, host.now());
      const text_ref = found.length === 0 ? null : await putText(content, await textOf(content, found, terms));
      return { status: 'ok', payload: { items: found.map(foundItem), text_ref } };
    },
  });
  const why = adapterOf(memoryWhy, {
    name: 'memory.why',
    async doExecute({ store, id }) {
      const world: AgentWorld = await host.world;
      const found = await provenanceOf(await world.views(), store, id);
      if (found === undefined) return { status: 'error', code: 'validation_error/item_unknown', retryable: false };
      return { status: 'ok', payload: { chain: [...found.chain], text_ref: found.text_ref } };
    },
  });
  return [search, why];
}

function foundItem({ id, rank, row: { score, origin } }: FoundRow): FoundItem {
  const { task, result } = origin ?? {};
  return { id, score, rank, ...(task === undefined ? {} : { task }), ...(result === undefined ? {} : { result }) };
}

/** Items that are read by their numbers are shown whole, those that are found by their summaries. */
async function textOf(content: ContentStore, found: readonly FoundRow[], { ids }: SearchTerms): Promise<string> {
  const shown = await Promise.all(
    found.map(async ({ id, row }) => ({
      id,
      text: await readItemText(content, ids === undefined ? row.summary_ref : row.content_ref),
      about: aboutOf(row),
    })),
  );
  return showItems(shown);
}

function aboutOf({ score, state, origin }: FoundRow['row']): string {
  const from = [
    origin?.result === undefined ? '' : `, result ${origin.result}`,
    origin?.task === undefined ? '' : `, task ${origin.task}`,
  ];
  return `, score ${score}${from.join('')}${state === 'live' ? '' : `, ${state}`}`;
}
