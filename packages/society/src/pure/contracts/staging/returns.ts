/** What agents bring back from elsewhere, as entities take it, keep it until it is reviewed, and pass it on. */

import { actor, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, from } from '@reprise/kernel/define';
import { effectOf, fraction, memoryFacts, optional, scope } from '@reprise/org/contracts';
import { IDENTITY_BOUNDS, returned, signature } from '../agent/identity.js';
import { ENTITY, STAGING_KEY } from '../cell/names.js';
import { childAgent, ownStaging, ownSwarm, parentEntity } from '../cell/senders.js';
import { acting, agentId, digest, nameId, noted, stagingId, told } from '../cell/statement.js';
import { chain, chainLink } from '../memory/l1.js';
import { itemId, itemIdShown, itemType, itemWords, subjectKey } from '../memory/tools.js';
import { nonceShown } from './proofs.js';

const count = z.int().min(0);
const code = z.nullable(z.string().max(96));
const callId = z.string().max(64);

/** The key of what an agent brought back once: the agent's id, and a stamp that its parent gives no other arrival. */
export const stagingKey = z.string().regex(STAGING_KEY);

/** The number of an item among those that were brought back together, from 1: also its number in the staging store. */
const place = z.int().min(1).max(IDENTITY_BOUNDS.items);

/** The decisions of a parent on what its agent brought back. */
export const DECISIONS = ['approve', 'reject', 'partial'] as const;

const brought = z.strictObject({
  group: nameId,
  type: itemType,
  content: itemWords,
  ...optional({ confidence: fraction(), subject_key: subjectKey }),
});

/** The tools by which an agent brings back what it has found elsewhere, and its parent decides on it. */
export const returnCalls = {
  agent_return: acting({
    description: 'Brings back what an agent has found elsewhere, signed: its parent reviews it.',
    args: {
      ...optional({ agent_id: agentId }),
      nonce: noted(nonceShown, { description: 'Of a challenge with the purpose return.' }),
      chain_hash: digest,
      session_count: count,
      base_hash: told(digest, 'The link of the chain at which the agent left; without it the divergence is unknown.'),
      memories: z.array(brought).max(IDENTITY_BOUNDS.items),
      signature,
    },
    answer: {
      staging_group_id: stagingId,
      divergence: noted(z.nullable(count), {
        description: 'Sessions since the base; null for a base that this world does not know.',
      }),
      conflicts: z.array(z.strictObject({ item: itemIdShown, with: itemIdShown, subject_key: z.string() })),
      items: count,
      merged: z.boolean(),
      review: z.enum(['none', 'usual', 'forced']),
    },
  }),
  staging_review: acting({
    description:
      'Decides on what an agent has brought back: approved items are written with the rights of the parent. A return whose review is forced is approved by naming its items.',
    args: {
      staging_group_id: stagingId,
      decision: z.enum(DECISIONS),
      items: told(
        z.array(itemIdShown).max(IDENTITY_BOUNDS.items),
        'The items that the decision partial approves; the others are rejected.',
      ),
    },
    answer: {
      staging_group_id: stagingId,
      copied: z.array(itemIdShown),
      rejected: z.array(itemIdShown),
      refused: noted(z.array(z.strictObject({ item: itemIdShown, code: z.string() })), {
        description: 'Approved items that the parent may not write at this moment: they stay staged.',
      }),
    },
  }),
};

/** Something else that a target says about the same subject. */
const conflict = z.strictObject({ item: place, with: z.int().min(1), subject_key: z.string().min(1).max(128) });

/** A review that is being carried out. */
const review = z.strictObject({
  /** The call of the parent that is answered at the end; null for a merge without a review. */
  call: z.nullable(callId),
  decision: z.enum([...DECISIONS, 'automatic']),
  /** Approved items that are not written yet, in order. */
  pending: z.array(place).max(IDENTITY_BOUNDS.items),
  copied: z.array(z.strictObject({ item: place, id: z.int().min(1) })).max(IDENTITY_BOUNDS.items),
  rejected: z.array(place).max(IDENTITY_BOUNDS.items),
  /** Approved items that could not be written: they stay staged. */
  refused: z.array(z.strictObject({ item: place, code: z.string().max(96) })).max(IDENTITY_BOUNDS.items),
});

/** The tables of an entity for returns: what agents brought back, until it is decided on. */
export const returnTables = {
  staged: z.strictObject({
    /** The agent's call, which waits for what its return came to; null when it was answered. */
    call: z.nullable(callId),
    /** The group of each item. */
    groups: z.array(nameId).max(IDENTITY_BOUNDS.items),
    chain,
    /** Sessions since the last state that both sides know; null for a base that this world does not know. */
    divergence: z.nullable(count),
    /** Whether the agent's side permits a merge without a review. */
    willing: z.boolean(),
    /** Whether the items lie in the staging store. */
    filled: z.boolean(),
    /** What contradicts the items; null until they were compared. */
    conflicts: z.nullable(z.array(conflict).max(IDENTITY_BOUNDS.items)),
    /** Groups that the parent may not read, so that nothing was compared with them. */
    unread: z.array(nameId).max(IDENTITY_BOUNDS.items),
    /** Whether an item of it was written to its target. */
    taken: z.boolean(),
    /** The items that are not decided on. */
    left: z.array(place).max(IDENTITY_BOUNDS.items),
    review: z.nullable(review),
  }),
};

/** The events between the cells of a return, and from its plans. */
export const returnNews = {
  /** The verdict on a return, and the link of the chain that the agent left from, if this world knows it. */
  'society/ReturnProved@1': from(
    z.strictObject({
      call: callId,
      code,
      refused: z.nullable(z.string().max(64)),
      base: z.nullable(chainLink),
    }),
    by.ownPlan,
  ),
  /** An agent hands what it has brought back to its parent: itself, or by the swarm that made it. */
  'society/Stage@1': from(
    z.strictObject({
      call: callId,
      agent_id: agentId,
      chain,
      divergence: z.nullable(count),
      willing: z.boolean(),
      items: returned.shape.items,
    }),
    childAgent,
    ownSwarm,
  ),
  /** The cell of a staging store has filled it, or could not. */
  'society/Filled@1': from(z.strictObject({ code }), ownStaging),
  /** The items were compared with what their targets say. */
  'society/Compared@1': from(
    z.strictObject({
      staging: stagingKey,
      conflicts: z.array(conflict).max(IDENTITY_BOUNDS.items),
      unread: z.array(nameId).max(IDENTITY_BOUNDS.items),
    }),
    by.ownPlan,
  ),
  /** An approved item was written, or could not be. */
  'society/Copied@1': from(
    z.strictObject({
      staging: stagingKey,
      item: place,
      code,
      written: z.nullable(
        z.strictObject({
          id: z.int().min(1),
          existed: z.boolean(),
          quarantined: z.boolean(),
          type: z.string().max(32),
        }),
      ),
    }),
    by.ownPlan,
  ),
  /** The parent says what a return came to. */
  'society/Staged@1': from(z.strictObject({ call: callId, is_error: z.boolean(), value: value() }), parentEntity),
  /** The parent has taken over what an agent brought back: from now on both know this link of its chain. */
  'society/Synced@1': from(chain, parentEntity),
} as const;

/** The facts of an entity about returns. */
export const returnFacts = {
  /** An agent has come back, and what it brought lies in a staging store. */
  'society/Returned@1': z.strictObject({
    agent_id: agentId,
    staging_group_id: z.string().max(128),
    items: count,
    divergence: z.nullable(count),
    conflicts: count,
  }),
  /** An approved item was written to its target. */
  'society/Merged@1': z.strictObject({ agent_id: agentId, item_id: itemId, copy_id: itemId, by: actor }),
  /** A review has ended, or a merge without one. */
  'society/Reviewed@1': z.strictObject({
    agent_id: agentId,
    staging_group_id: z.string().max(128),
    decision: z.enum([...DECISIONS, 'automatic']),
    copied: count,
    rejected: count,
    refused: count,
    /** Who decided; a rule where nobody was asked. */
    by: actor,
  }),
} as const;

/**
 * `society.conflicts@1`: finds the items of a store that say something else about the same subject. The right to read the
 * store is needed.
 */
export const societyConflicts = effectOf('society.conflicts@1', () => ({
  params: z.strictObject({
    store: scope,
    subjects: z
      .array(z.strictObject({ item: place, subject_key: z.string().min(1).max(128), content_ref: ref() }))
      .min(1)
      .max(IDENTITY_BOUNDS.items),
  }),
  receipt: z.strictObject({
    /** By the number of the returned item: the item of the store that it contradicts. */
    conflicts: z.array(z.strictObject({ item: place, with: z.int().min(1) })).max(IDENTITY_BOUNDS.items),
  }),
  guarantee: 'idempotent',
  rights: { mem_read: 'store' },
}));

/** The state of a staging store's cell. */
export const stagingState = z.strictObject({
  status: z.enum(['filling', 'open', 'ended']),
  items: z.int().min(0),
});

/** The state of a staging store's cell. */
export type StagingState = z.infer<typeof stagingState>;

/** The events of a staging store's cell. */
export const stagingEvents = {
  /** Makes it: by the parent of the agent that came back. */
  'society/MakeStaging@1': creates(from(z.strictObject({ items: returned.shape.items }), by.above(ENTITY))),
  /** The parent has decided on all items. */
  'society/EndStaging@1': from(z.strictObject({}), by.maker),
  /** A plan of this cell has filled the store, or archived what was in it. */
  'society/StagingChanged@1': from(z.strictObject({ code: z.nullable(z.string().max(96)) }), by.ownPlan),
} as const;

/** The facts of a staging store's cell. */
export const stagingFacts = { 'memory/Linked@1': memoryFacts['memory/Linked@1'] } as const;
