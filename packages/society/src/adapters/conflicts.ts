/** Executes `society.conflicts@1`: compares what an agent brings back with what a store says about the same subjects. */
import type { PartHost } from '@reprise/agent';
import type { Ref } from '@reprise/contracts';
import { type AnyAdapter, adapterOf, type ContentReader, getErasable, type World } from '@reprise/kernel';
import { CellReader, storeAt, unlessErased } from '@reprise/org';
import type { StoreState, storeTables } from '@reprise/org/contracts';
import { societyConflicts } from '../pure/contracts/index.js';

/** The adapter of `society.conflicts@1`, which reads stores and compares texts. */
export function conflictsAdapter(host: Pick<PartHost, 'world'>): AnyAdapter {
  return adapterOf(societyConflicts, {
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
  });
}

interface Known {
  readonly id: number;
  readonly content_ref: Ref;
}

async function itemsAbout(
  kernel: Pick<World, 'state' | 'table'>,
  store: string,
  subjects: ReadonlySet<string>,
): Promise<Map<string, Known[]>> {
  const found = new Map<string, Known[]>();
  const cell = new CellReader<StoreState, typeof storeTables>(kernel, storeAt(store));
  if ((await cell.state()) === undefined) return found; // a store that does not exist has no items
  for await (const [key, { state, subject_key, content_ref }] of cell.each('items')) {
    if (state !== 'live' || subject_key === null || !subjects.has(subject_key)) continue;
    found.set(subject_key, [...(found.get(subject_key) ?? []), { id: Number(key), content_ref }]);
  }
  return found;
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

function bytesOf(content: ContentReader, ref: Ref): Promise<Uint8Array | undefined> {
  return unlessErased(getErasable(content, ref), undefined);
}
