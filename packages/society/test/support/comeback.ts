/** A world with a person, her agent and their group, and an agent that comes back to it. */
import { createHash } from 'node:crypto';
import type { AgentWorld } from '@reprise/agent';
import { present } from '@reprise/contracts';
import { VirtualClock } from '@reprise/testkit';
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import type { AgentRegister, Entity, KeyVault, Society } from 'reprise/society';
import { society } from 'reprise/society';
import { memoryVault } from '../../src/adapters/vault.js';
import { type L1State, l1At, proofBytes, type SignedItem } from '../../src/index.js';

/** An opened world with a society whose keys a test holds. */
export interface Place {
  readonly world: AgentWorld;
  readonly office: Society;
  readonly keys: KeyVault;
  readonly clock: VirtualClock;
}

/** Opens a world on a store. */
export async function openPlace(
  store = memory(),
  { clock = new VirtualClock(), keys = memoryVault() }: Partial<Pick<Place, 'clock' | 'keys'>> = {},
): Promise<Place> {
  const part = society({ keys });
  const world = await openWorld({ store, clock, models: { main: script() }, parts: [part] });
  return { world, office: world.part(part), keys, clock };
}

/** A person, her agent, and their group `crew`. */
export async function crewOf({ office }: Place, more: Partial<AgentRegister> = {}) {
  const ann = await office.human('ann');
  const { agent_id } = await ann.register(
    { agentType: 'custom', displayName: 'Bot', capabilities: {}, ...more },
    { id: 'bot' },
  );
  const crew = office.group('crew');
  await crew.open({ owner: 'ann', culture: { broadcast_eagerness: 'taciturn' } });
  await crew.join('ann', 'owner');
  await crew.join(agent_id);
  return { ann, bot: office.entity(agent_id), crew };
}

/** What an agent says when it comes back. */
export interface Comeback {
  readonly items: readonly {
    readonly text: string;
    readonly group?: string;
    readonly subject_key?: string;
    readonly confidence?: number;
  }[];
  /** Sessions since the link that this world knows; undefined for a base that it does not know. */
  readonly sessions?: number | undefined;
  /** What is signed instead. */
  readonly instead?: (statement: Parameters<typeof proofBytes>[0]) => Parameters<typeof proofBytes>[0];
  /** The challenge that is answered; a new one when absent. */
  readonly nonce?: string;
  /** Who signs. */
  readonly signer?: string;
  /** Called between the challenge and the return. */
  readonly meanwhile?: () => Promise<unknown>;
  readonly caller?: Entity;
}

/** The answer to a return. */
export interface Came {
  readonly is_error: boolean;
  readonly value: {
    readonly code?: string;
    readonly cause?: string;
    readonly error?: string;
    readonly staging_group_id: string;
    readonly divergence: number | null;
    readonly conflicts: readonly { readonly item: string; readonly with: string }[];
    readonly merged: boolean;
    readonly review: string;
  };
}

/** An agent comes back. */
export async function comeBack(at: Place, parent: Entity, agent: string, how: Comeback): Promise<Came> {
  const { meanwhile, caller = parent } = how;
  const nonce = how.nonce ?? (await parent.challenge(agent, 'return')).nonce;
  const args = await returnArgs(at, agent, { ...how, nonce });
  await meanwhile?.();
  return (await caller.answerTo('agent_return', args as never)) as unknown as Came;
}

/** The arguments with which an agent comes back. */
export async function returnArgs(
  { world, keys }: Place,
  agent: string,
  { items, sessions, instead = (one) => one, signer = agent, nonce }: Comeback & { readonly nonce: string },
): Promise<object> {
  const { kernel } = world;
  const { chain } = (await kernel.state(l1At(agent))) as unknown as L1State;
  const session_count = chain.count + (sessions ?? 1);
  const chain_hash = createHash('sha256').update(`${nonce} ${session_count}`).digest('hex');
  const base = sessions === undefined ? 'f'.repeat(64) : chain.hash;
  const signed = items.map(({ text, group = 'crew', subject_key, confidence }): SignedItem => {
    const content = createHash('sha256').update(text).digest('hex');
    const confidence_ppm = confidence === undefined ? undefined : Math.round(confidence * 1_000_000);
    return { store: `group:${group}`, type: 'note', tags: [], content, ...present({ subject_key, confidence_ppm }) };
  });
  const place = { world: kernel.id, agent, nonce, purpose: 'return' as const };
  const statement = instead({ ...place, hash: chain_hash, count: session_count, base, items: signed });
  const signature = (await keys.sign(`ed25519.${signer}`, proofBytes(statement))) ?? '';
  const memories = items.map(({ text: content, group = 'crew', ...about }) => ({
    ...{ group, type: 'note', content, ...about },
  }));
  return { agent_id: agent, nonce, signature, chain_hash, session_count, base_hash: base, memories };
}

/** What a group's store holds, as it stands in the journal's state. */
export async function storeOfGroup({ world }: Place, group = 'crew'): Promise<string> {
  const at = ['memory/Store@1', `group:${group}`] as const;
  return JSON.stringify([await world.kernel.state([...at]), await world.kernel.table([...at], 'items', {})]);
}
