/**
 * An agent comes back with what it found elsewhere.
 *
 * Invariants
 * B1  Nothing is handed to the parent before the signature over world, challenge, chain and items was found to hold.
 * B2  What the agent may not write itself, or what was narrowed since it left, is not merged without a review.
 */

import { present, type Value, type ValueMap } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { permits } from '@reprise/kernel/authority';
import type { Returned } from '../../contracts/agent/identity.js';
import { l1At, storeOf } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import { argsOf, type News, type SocietyCallOf } from '../../contracts/entity-parts.js';
import type { Seen } from '../../contracts/group/seeing.js';
import type { ChainLink } from '../../contracts/memory/l1.js';
import { itemOf } from '../../contracts/memory/tools.js';
import type { returnNews } from '../../contracts/staging/returns.js';
import { returnPlan } from '../../plans/returns.js';
import { answerCall, callOfPlan, failureOf, goOnWith, startForCall } from '../call/answers.js';
import { type OperationsOf, refusal, refuse } from '../call/operations.js';
import { type EntityContext, type EntityHandlers, idOf } from '../context/entity.js';
import { see } from '../inbox/news.js';
import { compiledOf } from '../rights/rights.js';
import { requireProof, requireProver, takeNonce } from './proofs.js';

export const returnOperations: OperationsOf<'agent_return'> = {
  agent_return: (draft, asked, call, ctx) => {
    requireProver(draft);
    const { nonce, signature } = asked;
    if (takeNonce(nonce, ['return'], ctx) === undefined) return refusal('challenge_expired');
    const public_key = draft.public_key ?? '';
    const returned = returnedOf(asked);
    return startForCall(ctx, call, returnPlan, { call, agent: idOf(ctx), public_key, nonce, signature, returned });
  },
};

type ReturnNews = Pick<typeof returnNews, 'society/ReturnProved@1' | 'society/Staged@1' | 'society/Synced@1'>;

export const returnHandlers: EntityHandlers<ReturnNews> = {
  // The verdict on a return is there: what was brought back goes to the parent.
  'society/ReturnProved@1': (draft, { code, refused, base }, ctx) => {
    const call = callOfPlan(ctx);
    goOnWith(draft, call, ctx, (row) => {
      requireProof(code, refused);
      requireProver(draft);
      const maker = draft.maker ?? refuse('agent_unknown');
      const value = arrivalOf(draft, { call, base, returned: returnedOf(argsOf(row, 'agent_return')) }, ctx);
      ctx.send(maker, { name: 'society/Stage@1', value }, { failure: failureOf(call) });
      return undefined;
    });
  },
  // The parent says what the return came to. Of what the targets say else this agent hears where it may read them.
  'society/Staged@1': (draft, { call, is_error, value }, ctx) => {
    const stores = [...new Set(conflictsIn(value).map(storeOfConflict))];
    if (stores.length === 0) return answerCall(draft, call, { value, is_error }, ctx);
    const looks = stores.map((store) => ({ store, ids: [] }));
    see(draft, looks, { for: 'return', call, value }, ctx);
  },
  // The parent has taken over what this agent brought back: its hot context says so, last of all.
  'society/Synced@1': (_draft, value, ctx) => ctx.send(l1At(idOf(ctx)), { name: 'society/SyncL1@1', value }),
};

/** Answers a return with the conflicts that the agent may see. */
export function answerReturn(
  draft: EntityState,
  { call, value }: { readonly call: string; readonly value: Value },
  seen: readonly Seen[],
  ctx: EntityContext,
): void {
  const isSeen = (of: string) => seen.some(({ store, verdict }) => store === of && verdict !== 'denied');
  const conflicts = conflictsIn(value).filter((one) => isSeen(storeOfConflict(one)));
  answerCall(draft, call, { value: { ...(value as ValueMap), conflicts: conflicts as unknown as Value } }, ctx);
}

const conflict = z.object({ item: z.string(), with: z.string(), subject_key: z.string() });
type Conflict = z.infer<typeof conflict>;

const answered = z.object({ conflicts: z.array(conflict) });

function conflictsIn(value: Value): readonly Conflict[] {
  const parsed = answered.safeParse(value);
  return parsed.success ? parsed.data.conflicts : [];
}

function storeOfConflict({ with: other }: Conflict): string {
  return itemOf(other).store;
}

interface Proven {
  readonly call: string;
  readonly base: ChainLink | null;
  readonly returned: Returned;
}

function arrivalOf(draft: EntityState, { call, base, returned }: Proven, ctx: EntityContext): News<'society/Stage@1'> {
  const { chain_hash: hash, session_count, items } = returned;
  const since = base === null ? -1 : session_count - base.count;
  const mayWrite = items.every(({ store }) => permits(compiledOf(draft, ctx).exercise, 'mem_write', store));
  const wasNarrowed = base === null || (draft.narrowed_at > 0 && draft.narrowed_at >= base.at);
  const chain = { hash, count: session_count };
  const willing = draft.automerge && mayWrite && !wasNarrowed;
  return { call, agent_id: idOf(ctx), chain, divergence: since < 0 ? null : since, willing, items };
}

/** What the agent signed, from the arguments of its call. */
function returnedOf({ chain_hash, session_count, base_hash, memories }: SocietyCallOf<'agent_return'>): Returned {
  const items = memories.map(({ group, ...words }) => ({ store: storeOf.group(group), tags: [], ...words }));
  return { chain_hash, session_count, ...present({ base_hash }), items };
}
