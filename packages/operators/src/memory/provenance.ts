/** Where an item comes from: the places behind it, the nearest first, as organizations stated them. */
import type { ContentReader } from '@reprise/kernel';
import { CHAIN_MAX, type MemoryItem, type Place, placesOf } from '@reprise/org/contracts';
import { firstWords, plainText, saltedText } from '../texts/index.js';
import type { MemoryStep } from './report.js';
import type { MemoryTrail, PlacedAct } from './trail.js';

/** The steps from an item towards the words that it comes from. @param isCopy whether it comes from another item: its own act is then no place */
export async function stepsOf(
  { origin, content_ref }: Pick<MemoryItem, 'origin' | 'content_ref'>,
  {
    trail,
    content,
    isCopy,
  }: { readonly trail: MemoryTrail; readonly content: ContentReader; readonly isCopy: boolean },
): Promise<readonly MemoryStep[]> {
  if (origin === null) return [];
  const steps: MemoryStep[] = [];
  const open: Place[] = [...placesOf(origin)];
  const seen = new Set<string>();
  for (let next = open.shift(); next !== undefined && steps.length < CHAIN_MAX; next = open.shift()) {
    const { kind, id } = next;
    if (seen.has(`${kind} ${id}`)) continue;
    seen.add(`${kind} ${id}`);
    const stated = trail.placeOf(origin, kind, id);
    if (stated === undefined && isCopy) continue;
    const ref = stated?.text_ref ?? null;
    // A write of a society states the words of the item itself.
    const isOwn = ref === null || ref.hex === content_ref.hex;
    const read = origin.cell.startsWith(SALTING) ? saltedText : plainText;
    const words = isOwn ? null : firstWords((await read(content, ref)).text);
    steps.push({ kind, id, title: stated?.title ?? '', frame: stated?.frame ?? null, words });
    open.push(...(stated?.from ?? []));
  }
  return steps;
}

/** The cells that state the words of a place as content that can be erased. */
const SALTING = 'society/';

/** The act of the nearest place of an item: an item that had to wait was written in a later frame than its act. */
export function actOfOrigin({ origin }: Pick<MemoryItem, 'origin'>, trail: MemoryTrail): PlacedAct | undefined {
  const [nearest] = origin === null ? [] : placesOf(origin);
  return origin === null || nearest?.kind !== 'message'
    ? undefined
    : trail.placeOf(origin, nearest.kind, nearest.id)?.act;
}
