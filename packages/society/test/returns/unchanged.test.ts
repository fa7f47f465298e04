/** Whatever comes back, and however: targets stay as they are, byte for byte, until the parent approves. */
import { encode, portableSha256, toHex } from '@reprise/kernel';
import type { Entity } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { l1At } from '../../src/index.js';
import { type Comeback, comeBack, crewOf, openPlace, type Place } from '../support/comeback.js';

const NOTE = { type: 'note', visibility: 'group', group: 'crew' } as const;
const ITEM = { text: 'The limit is 1 MiB.', subject_key: 'limit' };

/** The digest of all that a return could change: the group's store, and what the agent's hot context is synced to. */
async function targetsOf({ world: { kernel } }: Place, agent: string): Promise<string> {
  const store = ['memory/Store@1', 'group:crew'] as const;
  const { synced } = (await kernel.state(l1At(agent))) as unknown as { readonly synced: object | null };
  const items = await kernel.table([...store], 'items', {});
  return toHex(portableSha256(encode([(await kernel.state([...store])) ?? null, items, synced] as never)));
}

interface Case {
  readonly what: string;
  /** What the agent may not come back with: nothing is staged then. */
  readonly refused?: string;
  readonly comes: (place: Place, ann: Entity, agent: string) => Promise<Comeback>;
}

const after = (sessions: number | undefined) => async () => ({ items: [ITEM], sessions });

const CASES: readonly Case[] = [
  { what: 'after 2 sessions', comes: after(2) },
  { what: 'after 4 sessions', comes: after(4) },
  { what: 'after 7 sessions', comes: after(7) },
  { what: 'from a base that nobody knows', comes: after(undefined) },
  {
    what: 'with a conflict',
    comes: async (_, ann) => {
      await ann.memory.write({ ...NOTE, content: 'The limit is 2 MiB.', subjectKey: 'limit' });
      return { items: [ITEM], sessions: 1 };
    },
  },
  {
    what: 'with the key of another agent',
    refused: 'signature_invalid',
    comes: async (_, ann) => {
      const other = await ann.register({ agentType: 'custom', displayName: 'Other', capabilities: {} });
      return { items: [ITEM], sessions: 1, signer: other.agent_id };
    },
  },
  {
    what: 'with a nonce that was used',
    refused: 'challenge_expired',
    comes: async (place, ann, agent) => {
      const { nonce } = await ann.challenge(agent, 'return');
      await comeBack(place, ann, agent, { items: [], sessions: 1, nonce });
      await ann.review(agent, { reject: true });
      return { items: [ITEM], sessions: 1, nonce };
    },
  },
  {
    what: 'when it was revoked meanwhile',
    refused: 'agent_not_active',
    comes: async (_, ann, agent) => ({
      items: [ITEM],
      sessions: 1,
      meanwhile: () => ann.setStatus(agent, 'deactivate'),
    }),
  },
];

describe('the targets of a return', () => {
  it.each(CASES)(
    'targets are unchanged before approval: an agent comes back $what [SOC-52]',
    async ({ comes, refused }) => {
      const at = await openPlace();
      await using world = at.world;
      const { ann, bot } = await crewOf(at);
      await ann.setStatus(bot.id, 'activate');
      await ann.memory.write({ ...NOTE, content: 'Known.' });
      const how = await comes(at, ann, bot.id);
      const before = await targetsOf(at, bot.id);
      const { is_error, value } = await comeBack(at, ann, bot.id, how);
      expect([is_error, value.code]).toEqual([refused !== undefined, refused]);
      const staged = await ann.staging(bot.id);
      expect(staged).toHaveLength(refused === undefined ? 1 : 0);
      expect(await targetsOf(at, bot.id)).toBe(before);
      if (refused !== undefined) return void (await world.verify());
      await ann.review(bot.id, { approve: staged.map(({ item_id }) => item_id) });
      expect(await targetsOf(at, bot.id)).not.toBe(before);
      expect((await ann.memory.list('crew')).items.at(-1)).toMatchObject({
        content: ITEM.text,
        taken_over_from: bot.id,
      });
      await world.verify();
    },
  );
});
