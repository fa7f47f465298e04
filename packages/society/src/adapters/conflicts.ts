/** Executes `society.conflicts@1`: compares what an agent brings back with what a store says about the same subjects. */
import type { PartHost } from '@reprise/agent';
import { isRepriseError, type Ref } from '@reprise/contracts';
import { type Adapter, type AnyAdapter, type ContentReader, getErasable, type World } from '@reprise/kernel';
import { type MemoryItem, storeAt } from '@reprise/memory';
import { societyConflicts } from '../pure/contracts/index.js';

interface Asked {
  readonly store: string;
  readonly subjects: readonly { readonly item: number; readonly subject_key: string; readonly content_ref: Ref }[];
}

interface Found {
  readonly conflicts: readonly { readonly item: number; readonly with: number }[];
}

/** The adapter of `society.conflicts@1`. */
export function conflictsAdapter(host: Pick<PartHost, 'world'>): AnyAdapter {
  const adapter: Adapter<Asked, Found> = {
    effect: societyConflicts as unknown as Adapter<Asked, Found>['effect'],
    name: 'society.conflicts',
    async doExecute({ store, subjects }, { content }) {
      const { kernel } = await host.world;
      const known = await itemsAbout(kernel, store, new Set(subjects.map(({ subject_key }) => subject_key)));
      const conflicts: { item: number; with: number }[] = [];
      for (const { item, subject_key, content_ref } of subjects) {
        const other = await otherThan(content, content_ref, known.get(subject_key) ?? []);
        if (other !== undefined) conflicts.push({ item, with: other });
      }
      return { status: 'ok', payload: { conflicts } };
    },
  };
  return adapter as unknown as AnyAdapter;
}

interface Known {
  readonly id: number;
  readonly content_ref: Ref;
}

/** The live items of a store about some subjects. */
async function itemsAbout(
  kernel: Pick<World, 'table'>,
  store: string,
  subjects: ReadonlySet<string>,
): Promise<Map<string, Known[]>> {
  const found = new Map<string, Known[]>();
  for await (const [key, { state, subject_key, content_ref }] of entriesOf(kernel, store)) {
    if (state !== 'live' || subject_key === null || !subjects.has(subject_key)) continue;
    found.set(subject_key, [...(found.get(subject_key) ?? []), { id: Number(key), content_ref }]);
  }
  return found;
}

async function* entriesOf(kernel: Pick<World, 'table'>, store: string): AsyncGenerator<readonly [string, MemoryItem]> {
  let after: string | undefined;
  for (;;) {
    const page = await pageOf(kernel, store, after);
    for (const [key, item] of page) yield [key, item as unknown as MemoryItem];
    after = page.at(-1)?.[0];
    if (after === undefined) return;
  }
}

/** A store that does not exist has no items. */
async function pageOf(kernel: Pick<World, 'table'>, store: string, after: string | undefined) {
  try {
    return await kernel.table(storeAt(store), 'items', after === undefined ? {} : { after });
  } catch (error) {
    if (isRepriseError(error, 'cell_absent')) return [];
    throw error;
  }
}

/** Equal texts have different links, so the texts are compared. One that was erased contradicts nothing. */
async function otherThan(content: ContentReader, ref: Ref, known: readonly Known[]): Promise<number | undefined> {
  const own = await bytesOf(content, ref);
  if (own === undefined) return undefined;
  for (const { id, content_ref } of known) {
    const text = await bytesOf(content, content_ref);
    if (text !== undefined && Buffer.compare(text, own) !== 0) return id;
  }
  return undefined;
}

async function bytesOf(content: ContentReader, ref: Ref): Promise<Uint8Array | undefined> {
  try {
    return await getErasable(content, ref);
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return undefined;
    throw error;
  }
}
