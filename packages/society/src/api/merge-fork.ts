/**
 * Brings back what agents did in a fork of this world: each returns as it would from any other place, by a signature over
 * what it brings.
 *
 * Invariants
 * K1  What a return brings is its id: a merge that is repeated, also after a crash in its middle, stages nothing twice.
 * K2  A refusal is not the end of it: a later merge of the same tries again, under the next number.
 * K3  What stays behind is counted and told.
 */
import { formatAddress, type Principal, present, RepriseError, type Value } from '@reprise/contracts';
import {
  encode,
  portableSha256,
  type ReadonlyStore,
  readFrame,
  type Store,
  toHex,
  type World,
  type WorldAt,
} from '@reprise/kernel';
import { CellReader, key, type MemoryItem, readItemText, storeAt } from '@reprise/org';
import type { StoreState, storeTables } from '@reprise/org/contracts';
import {
  authorOf,
  entityAt,
  IDENTITY_BOUNDS,
  type L1State,
  l1At,
  l1Reducer,
  type ProofStatement,
  proofBytes,
  type SignedItem,
  storeOf,
} from '../pure/index.js';
import type { ToolAnswer } from '../wire/index.js';
import { refusedCall } from './caller.js';
import type { Entity } from './entity.js';
import { type Answered, callIdOf } from './requests.js';

/** Which agents come back from a fork, and how what they bring is merged. */
export interface MergeForkOptions {
  /** The agents that come back; all that stand below the entity when absent. */
  readonly agents?: readonly string[];
  /** Signs as an agent whose key is not in the vault of the society. @returns the base64 of the signature */
  readonly sign?: (agent: string, bytes: Uint8Array) => Promise<string | undefined>;
  readonly as?: Principal;
}

/** A return of one agent; one with more than 24 items comes in several. */
export type ForkReturn = ToolAnswer<'agent_return'> & {
  readonly agent_id: string;
  /** Whether an earlier merge had brought the same back: it was not staged again. */
  readonly repeated: boolean;
};

/** What an agent wrote in a fork and does not bring back: how many items of its private store, and of its notes. */
export interface StayedBehind {
  readonly agent_id: string;
  readonly private: number;
  readonly notes: number;
}

/** What a merge came to. */
export interface MergeReport {
  readonly returns: readonly ForkReturn[];
  /** Of each agent that wrote something for itself alone: what stays in the fork. */
  readonly stayed: readonly StayedBehind[];
}

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
export async function mergeForkOf(merging: Merging, store: Store): Promise<MergeReport> {
  const opened = await store.openReadonly();
  try {
    const apart = await apartFrom(merging.world, opened);
    const returns: ForkReturn[] = [];
    const stayed: StayedBehind[] = [];
    for (const agent of await agentsOf(merging)) {
      const own = await stayedOf(agent, apart);
      if (own.private + own.notes > 0) stayed.push(own);
      const items = await broughtBy(agent, apart);
      for (let at = 0; at < items.length; at += IDENTITY_BOUNDS.items)
        returns.push(await comeBack(merging, agent, apart, items.slice(at, at + IDENTITY_BOUNDS.items)));
    }
    return { returns, stayed };
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
    const cell = new CellReader<StoreState, typeof storeTables>(fork, store);
    for await (const [, item] of cell.each('items', { from: key(nextOf(await cut.state(store))) })) {
      const isLeft = item.state === 'archived' || item.state === 'superseded';
      const text = authorOf(item) !== author || isLeft ? null : await readItemText(content, item.content_ref);
      if (text !== null) found.push({ group, text, item });
    }
  }
  return found;
}

/** K3: how much an agent wrote since the fork for itself alone. */
async function stayedOf(agent: string, { cut, fork }: Apart): Promise<StayedBehind> {
  const written = async (scope: string): Promise<number> => {
    const store = storeAt(scope);
    const [before, after] = await Promise.all([cut.state(store), fork.state(store)]);
    return nextOf(after) - nextOf(before);
  };
  const [own, notes] = await Promise.all([written(storeOf.private(agent)), written(storeOf.notes(agent))]);
  return { agent_id: agent, private: own, notes };
}

/** The number of the next item of a store; a store that does not exist has no item. */
function nextOf(state: Value | undefined): number {
  const { next = 1 } = (state ?? {}) as { readonly next?: number };
  return next;
}

async function chainOf(world: WorldAt, agent: string): Promise<L1State['chain']> {
  const state = await world.state([l1Reducer, agent]);
  if (state === undefined) throw new RepriseError('cell_absent', `${agent} has no hot context`, { where: agent });
  return state.chain;
}

async function comeBack(
  merging: Merging,
  agent: string,
  { cut, fork }: Apart,
  brought: readonly Brought[],
): Promise<ForkReturn> {
  const { world, parent, options } = merging;
  const by = present({ as: options.as });
  const { hash: base } = await chainOf(cut, agent);
  const stated = { ...(await chainOf(fork, agent)), base, items: brought.map(signedItem) };
  const until = world.head.seq;
  for (let attempt = 1; ; attempt++) {
    const once = callIdOf(['return', agent, encode(stated), attempt]); // K1
    const asked = { agent_id: agent, purpose: 'return' } as const;
    const challenge = await parent.answered('agent_challenge', asked, { ...by, id: `${once}.c` });
    const { nonce } = challenge.value as { readonly nonce: string };
    const answer = challenge.is_error ? challenge : await brings(merging, { agent, stated, brought, id: once, nonce });
    const repeated = answer.seq <= until;
    if (answer.is_error && (repeated || challenge.seq <= until)) continue; // K2
    if (answer.is_error) throw refusedCall(parent.id, 'agent_return', answer.value);
    return { ...(answer.value as unknown as ToolAnswer<'agent_return'>), agent_id: agent, repeated };
  }
}

/** What one return says of its agent and its items. */
interface Bringing extends Pick<ProofStatement, 'agent' | 'nonce'> {
  readonly stated: L1State['chain'] & Pick<ProofStatement, 'items'> & { readonly base: string };
  readonly brought: readonly Brought[];
  readonly id: string;
}

async function brings(
  { world, parent, options, sign }: Merging,
  { agent, stated, brought, id, nonce }: Bringing,
): Promise<Answered & { readonly seq: number }> {
  const bytes = proofBytes({ world: world.id, agent, nonce, purpose: 'return', ...stated });
  const signature = await (options.sign ?? sign)(agent, bytes);
  if (signature === undefined) throw noKey(agent);
  const memories = brought.map(({ group, text, item: { type, confidence_ppm, subject_key } }) => {
    const confidence = confidence_ppm === null ? undefined : confidence_ppm / MILLION;
    return { group, type, content: text, ...present({ confidence, subject_key: subject_key ?? undefined }) };
  });
  const { hash: chain_hash, count: session_count, base: base_hash } = stated;
  const args = { agent_id: agent, nonce, signature, chain_hash, session_count, base_hash, memories };
  return parent.answered('agent_return', args, { ...present({ as: options.as }), id, isOfId: true });
}

const MILLION = 1_000_000;

function signedItem({ group, text, item: { type, confidence_ppm, subject_key } }: Brought): SignedItem {
  const content = toHex(portableSha256(new TextEncoder().encode(text)));
  const about = present({ confidence_ppm: confidence_ppm ?? undefined, subject_key: subject_key ?? undefined });
  return { store: storeOf.group(group), type, tags: [], content, ...about };
}

function noKey(agent: string): RepriseError {
  return new RepriseError('invalid_argument', 'the key of this agent is not in the vault of the society', {
    where: `agent ${agent}`,
    expected: 'a key that signs for it',
    hint: 'Give the option sign, or name in agents only those whose keys are here.',
  });
}
