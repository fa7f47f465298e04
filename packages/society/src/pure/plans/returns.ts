/** Plans of returns: a proof and its base, what contradicts the items, the staging store, and each approved item. */

import * as z from '@reprise/contracts/schema';
import type { PlanBody, PlanContext } from '@reprise/kernel/define';
import { codeOf, memoryWrite, planOf, scope, storeAt } from '@reprise/org/contracts';
import { IDENTITY_BOUNDS, identityVerify, nonce, publicKey, returned, signature } from '../contracts/agent/identity.js';
import { l1At, storeOf } from '../contracts/cell/names.js';
import { agentId } from '../contracts/cell/statement.js';
import { copyTarget } from '../contracts/memory/acts.js';
import { type ChainLink, chainLink, knownLink } from '../contracts/memory/l1.js';
import { MEMORY_BOUNDS } from '../contracts/memory/tools.js';
import { returnNews, societyConflicts, stagingKey } from '../contracts/staging/returns.js';
import { GATED_READS } from './content-gate.js';
import { readLive, write } from './memory.js';

/** `society/return_plan@1`: has a return checked, and finds the link of the chain that the agent left from. */
export const returnPlan = planOf('society/return_plan@1', () => ({
  input: z.strictObject({
    call: z.string().max(64),
    agent: agentId,
    public_key: publicKey,
    nonce,
    signature,
    returned,
  }),
  effects: [identityVerify],
  *run({ call, ...proof }, plan) {
    const verdict = yield* plan.awaitReceipt(plan.emitEffect(identityVerify, { ...proof, purpose: 'return' }));
    const refused = verdict.status === 'ok' ? verdict.payload.refused : null;
    const base = yield* baseOf(plan, proof.agent, proof.returned.base_hash);
    plan.raiseEvent({ name: 'society/ReturnProved@1', value: { call, code: codeOf(verdict), refused, base } });
  },
}));

/** The part of a hot context that knows the chain. */
const known = z.object({ synced: z.nullable(chainLink), links: z.array(chainLink) });

function* baseOf(plan: PlanContext, agent: string, hash: string | undefined): PlanBody<ChainLink | null> {
  const parsed = known.safeParse(yield* plan.peek(l1At(agent)));
  return hash === undefined || !parsed.success ? null : (knownLink(parsed.data, hash) ?? null);
}

const item = returnNews['society/Copied@1'].schema.shape.item;

/** The items about subjects, by the group that they are for. */
const compared = z.strictObject({
  group: z.string().max(128),
  subjects: z
    .array(
      z.strictObject({
        item,
        subject_key: z.string().min(1).max(128),
        content_ref: returned.shape.items.element.shape.content_ref,
      }),
    )
    .min(1)
    .max(IDENTITY_BOUNDS.items),
});

/** `society/compare_plan@1`: finds what the targets say else about the same subjects, with the parent's rights. */
export const comparePlan = planOf('society/compare_plan@1', () => ({
  input: z.strictObject({ staging: stagingKey, targets: z.array(compared).max(IDENTITY_BOUNDS.items) }),
  effects: [societyConflicts],
  *run({ staging, targets }, plan) {
    const handles = targets.map(({ group, subjects }) =>
      plan.emitEffect(societyConflicts, { store: storeOf.group(group), subjects }),
    );
    const receipts = handles.length === 0 ? [] : ((yield* plan.awaitAll(handles)) ?? []);
    const conflicts: { item: number; with: number; subject_key: string }[] = [];
    const unread: string[] = [];
    for (const [i, receipt] of receipts.entries()) {
      const { group, subjects } = targets[i] as (typeof targets)[number];
      if (receipt.status !== 'ok') unread.push(group);
      else
        for (const found of receipt.payload.conflicts)
          conflicts.push({
            ...found,
            subject_key: subjects.find((one) => one.item === found.item)?.subject_key ?? '-',
          });
    }
    plan.raiseEvent({ name: 'society/Compared@1', value: { staging, conflicts, unread } });
  },
}));

/** `society/copy_plan@1`: writes an approved item to its target, with the parent's rights of this moment. */
export const copyPlan = planOf('society/copy_plan@1', () => ({
  input: z.strictObject({
    staging: stagingKey,
    item,
    ...copyTarget.shape,
  }),
  effects: [...GATED_READS, memoryWrite],
  *run({ staging, item: of, ...target }, plan) {
    const outcome = yield* copy(plan, storeOf.staging(staging), of, target);
    plan.raiseEvent({ name: 'society/Copied@1', value: { staging, item: of, ...outcome } });
  },
}));

type Copied = Pick<z.infer<(typeof returnNews)['society/Copied@1']['schema']>, 'code' | 'written'>;

function* copy(plan: PlanContext, store: string, id: number, target: z.infer<typeof copyTarget>): PlanBody<Copied> {
  const { to, key, origin, expires_at } = target;
  const { item: found, seen } = yield* readLive(plan, store, id);
  if (found === undefined) return { code: seen.code, written: null };
  const { content_ref, summary_ref, tags, type, confidence_ppm, subject_key } = found;
  const words = { content_ref, summary_ref, tags, type, confidence_ppm, subject_key, memory_of_refs: [content_ref] };
  const operation = { op: 'store' as const, key, origin, trust: 'derived' as const, ...words, expires_at };
  const quarantine = confidence_ppm !== null && confidence_ppm < MEMORY_BOUNDS.quarantined_below_ppm;
  const { code, written } = yield* write(plan, { act: 'write', store: to, operation, quarantine });
  return {
    code,
    written: written === null ? null : { id: written.id, existed: written.existed, quarantined: quarantine, type },
  };
}

/** `society/fill_plan@1`: puts what an agent brought back into its staging store, in order. */
export const fillPlan = planOf('society/fill_plan@1', () => ({
  input: z.strictObject({ store: scope, cell: z.string().max(360), items: returned.shape.items }),
  effects: [memoryWrite],
  *run({ store, cell, items }, plan) {
    for (const [
      i,
      { content_ref, summary_ref, tags, type, confidence_ppm = null, subject_key = null },
    ] of items.entries()) {
      const id = i + 1;
      const words = { content_ref, summary_ref, tags, type, confidence_ppm, subject_key };
      const operation = { op: 'store' as const, key: `returned.${id}`, origin: { cell, message: id }, ...words };
      const stored = yield* plan.awaitReceipt(plan.emitEffect(memoryWrite, { store, at: storeAt(store), operation }));
      const code = stored.status === 'ok' && stored.payload.id !== id ? 'staging_used' : codeOf(stored);
      if (code !== null) return plan.raiseEvent({ name: 'society/StagingChanged@1', value: { code } });
    }
    plan.raiseEvent({ name: 'society/StagingChanged@1', value: { code: null } });
  },
}));

/** `society/end_plan@1`: archives what is in a staging store. */
export const endPlan = planOf('society/end_plan@1', () => ({
  input: z.strictObject({ store: scope, items: z.int().min(0).max(IDENTITY_BOUNDS.items) }),
  effects: [memoryWrite],
  *run({ store, items }, plan) {
    for (let id = 1; id <= items; id++) {
      const operation = { op: 'move' as const, id, state: 'archived' as const };
      yield* plan.awaitReceipt(plan.emitEffect(memoryWrite, { store, at: storeAt(store), operation }));
    }
    plan.raiseEvent({ name: 'society/StagingChanged@1', value: { code: null } });
  },
}));
