/** Where items come from: the steps from an item to the words of a person. */
import type { Ref } from '@reprise/contracts';
import type { Views } from '@reprise/kernel/views';
import { CHAIN_MAX, type ChainStep, type Place, placesOf } from '../pure/store/index.js';
import { memoryItems, memoryPlaces } from './views.js';

/** The provenance of an item. */
export interface Provenance {
  /** The item first, then what it comes from, the nearest first. */
  readonly chain: readonly ChainStep[];
  /** The words of a person at the end, unless the chain was cut before them. */
  readonly text_ref: Ref | null;
  /** The places that a step names and that no organization has stated: none, in a sound world. */
  readonly dangling: readonly Place[];
}

/** The provenance of an item; undefined for an item that does not exist. At most 32 steps are listed. */
export async function provenanceOf(views: Views, scope: string, id: number): Promise<Provenance | undefined> {
  const item = await views.view(memoryItems).get([scope, id]);
  if (item === undefined) return undefined;
  const chain: ChainStep[] = [{ kind: 'memory', id, title: `memory ${id}`, seq: item.seq }];
  const dangling: Place[] = [];
  const { origin } = item;
  if (origin === null) return { chain, text_ref: null, dangling };
  const open: Place[] = [...placesOf(origin)];
  const seen = new Set<string>();
  let words: Ref | null = null;
  const places = views.view(memoryPlaces);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const at = `${next.kind} ${next.id}`;
    if (seen.has(at)) continue;
    seen.add(at);
    const row = await places.get([origin.cell, next.kind, next.id]);
    if (row === undefined) {
      dangling.push(next);
      continue;
    }
    chain.push({ kind: next.kind, id: next.id, title: row.title, seq: row.seq });
    if (next.kind === 'message') words ??= row.text_ref;
    open.push(...row.from);
  }
  return { chain: shortened(chain), text_ref: words, dangling };
}

/** A long chain keeps its beginning and its end: the end are the words of a person. */
function shortened(chain: readonly ChainStep[]): readonly ChainStep[] {
  const last = chain.findLast(({ kind }) => kind === 'message');
  if (chain.length <= CHAIN_MAX) return chain;
  const head = chain.slice(0, CHAIN_MAX - 1);
  return last === undefined || head.includes(last) ? chain.slice(0, CHAIN_MAX) : [...head, last];
}
