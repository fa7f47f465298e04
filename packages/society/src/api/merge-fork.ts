/**
 * Brings back what agents did in a fork of this world: each returns as it would from any other place, by a signature over
 * what it brings.
 */
import { formatAddress, type Principal, RepriseError, type Value } from '@reprise/contracts';
import {
  portableSha256,
  type ReadonlyStore,
  readFrame,
  type Store,
  toHex,
  type World,
  type WorldAt,
} from '@reprise/kernel';
import { itemKey, keepText, type MemoryItem, readItemText, storeAt } from '@reprise/memory';
import { entityAt, IDENTITY_BOUNDS, type L1State, l1At, proofBytes, type SignedItem, storeOf } from '../pure/index.js';
import type { ToolAnswer } from '../wire/index.js';
import type { Entity } from './entity.js';

/** The options of {@link Entity.mergeFork}. */
export interface MergeForkOptions {
  /** The agents that come back; all that stand below the entity when absent. */
  readonly agents?: readonly string[];
  /** Signs as an agent whose key is not in the vault of the society. @returns the base64 of the signature */
  readonly sign?: (agent: string, bytes: Uint8Array) => Promise<string | undefined>;
  readonly as?: Principal;
}

/** A return of one agent; one with more than 24 items comes in several. */
export type ForkReturn = ToolAnswer<'agent_return'> & { readonly agent_id: string };

/** What a merge needs of the parent's world. */
interface Merging {
  readonly world: World;
  readonly parent: Entity;
  readonly options: MergeForkOptions;
  sign(agent: string, bytes: Uint8Array): Promise<string | undefined>;
}

/** A fork beside the world that it left. */
interface Apart {
  readonly content: ReadonlyStore['content'];
  readonly cut: WorldAt;
  readonly fork: WorldAt;
}

/** An item as it is brought back: its words, and what is said about them. */
interface Brought {
  readonly group: string;
  readonly text: string;
  readonly item: MemoryItem;
}

/** Has agents return from a fork. */
export async function mergeForkOf(merging: Merging, store: Store): Promise<readonly ForkReturn[]> {
  const opened = await store.openReadonly();
  try {
    const apart = await apartFrom(merging.world, opened);
    const returned: ForkReturn[] = [];
    for (const agent of await agentsOf(merging)) {
      const items = await broughtBy(agent, apart);
      for (let at = 0; at < items.length; at += IDENTITY_BOUNDS.items)
        returned.push(await comeBack(merging, agent, apart, items.slice(at, at + IDENTITY_BOUNDS.items)));
    }
    return returned;
  } finally {
    await opened.close();
  }
}

async function apartFrom(world: World, opened: ReadonlyStore): Promise<Apart> {
  const stored = await opened.journal.findLast('fork', Number.MAX_SAFE_INTEGER);
  const ingress = stored && readFrame(stored.bytes, stored.seq).ingress;
  if (ingress?.kind !== 'fork' || ingress.from.world !== world.id)
    throw new RepriseError('invalid_argument', 'this store does not hold a fork of this world', {
      where: 'fork',
      expected: `a fork of ${world.id}`,
      actual: ingress?.kind === 'fork' ? ingress.from.world : 'no fork',
    });
  return { content: opened.content, cut: await world.at(ingress.from.seq), fork: await world.peer(opened) };
}

async function agentsOf({ parent, options: { agents } }: Merging): Promise<readonly string[]> {
  if (agents !== undefined) return agents;
  const { items } = await parent.agents({ status: ['registered', 'active'], limit: 1_000 });
  return items.map(({ agent_id }) => agent_id);
}

/** What an agent wrote to its groups since the fork, the oldest first in each; words that were erased are gone. */
async function broughtBy(agent: string, { content, cut, fork }: Apart): Promise<readonly Brought[]> {
  if ((await cut.state(l1At(agent))) === undefined) return [];
  const author = formatAddress(entityAt(agent));
  const found: Brought[] = [];
  for (const [group] of await fork.table(entityAt(agent), 'memberships', {})) {
    const store = storeAt(storeOf.group(group));
    if ((await fork.state(store)) === undefined) continue;
    const { next = 1 } = ((await cut.state(store)) ?? {}) as { readonly next?: number };
    for await (const item of itemsFrom(fork, store, next)) {
      const isLeft = item.state === 'archived' || item.state === 'superseded';
      const text = item.author !== author || isLeft ? null : await readItemText(content, item.content_ref);
      if (text !== null) found.push({ group, text, item });
    }
  }
  return found;
}

async function* itemsFrom(fork: WorldAt, store: ReturnType<typeof storeAt>, first: number): AsyncGenerator<MemoryItem> {
  for (let after = itemKey(first - 1); ; ) {
    const page = await fork.table(store, 'items', { after });
    for (const [, item] of page) yield item as unknown as MemoryItem;
    const last = page.at(-1)?.[0];
    if (last === undefined) return;
    after = last;
  }
}

async function comeBack(
  { world, parent, options, sign }: Merging,
  agent: string,
  { cut, fork }: Apart,
  brought: readonly Brought[],
): Promise<ForkReturn> {
  const by = options.as === undefined ? {} : { as: options.as };
  const { chain } = (await fork.state(l1At(agent))) as unknown as L1State;
  const { hash: base_hash } = ((await cut.state(l1At(agent))) as unknown as L1State).chain;
  const { nonce } = await parent.challenge(agent, 'return', by);
  const items = brought.map(signedItem);
  const place = { world: world.id, agent, nonce, purpose: 'return' as const };
  const bytes = proofBytes({ ...place, hash: chain.hash, count: chain.count, base: base_hash, items });
  const signature = await (options.sign ?? sign)(agent, bytes);
  if (signature === undefined) throw noKey(agent);
  const memories = await Promise.all(
    brought.map(async ({ group, text, item: { type, ...about } }) => ({
      ...{ group, type, ...stated(about) },
      ...(await keepText(world.content, text)),
    })),
  );
  const proof = { agent_id: agent, nonce, signature };
  const args = { ...proof, chain_hash: chain.hash, session_count: chain.count, base_hash, memories };
  const answer = (await parent.call('agent_return', args as unknown as Value, by)) as unknown as ForkReturn;
  return { ...answer, agent_id: agent };
}

function signedItem({ group, text, item: { type, ...about } }: Brought): SignedItem {
  const content = toHex(portableSha256(new TextEncoder().encode(text)));
  return { store: storeOf.group(group), type, tags: [], content, ...stated(about) };
}

function stated({ confidence_ppm, subject_key }: Pick<MemoryItem, 'confidence_ppm' | 'subject_key'>) {
  return { ...(confidence_ppm === null ? {} : { confidence_ppm }), ...(subject_key === null ? {} : { subject_key }) };
}

function noKey(agent: string): RepriseError {
  return new RepriseError('invalid_argument', 'the key of this agent is not in the vault of the society', {
    where: `agent ${agent}`,
    expected: 'a key that signs for it',
    hint: 'Give the option sign, or name in agents only those whose keys are here.',
  });
}
