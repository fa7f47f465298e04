/** Rebuilds a waiting plan from its leaf and compares: would this app continue where another stopped? */
import type { PlanAddress } from '@reprise/contracts';
import { encode, equalBytes, FRAME_DEPTH_MAX } from '../../codec/index.js';
import type { App, PlanWait } from '../../define/index.js';
import type { PlanLeaf } from '../leaf/leaves.js';
import { Fault } from '../leaf/signals.js';
import { LivePlan, Segment } from './live-plan.js';

/** The first difference between a rebuilt plan and the recorded one. */
interface PlanDifference {
  readonly what: string;
  readonly recorded: unknown;
  readonly rebuilt: unknown;
}

/** Compares a waiting plan with the one that this app rebuilds from its leaf; undefined when they are equal. */
export function planDifference(app: App, plan: PlanAddress, leaf: PlanLeaf): PlanDifference | undefined {
  const definition = app.plans.get(leaf.name);
  if (definition === undefined) return { what: 'the plan', recorded: leaf.name, rebuilt: undefined };
  if (leaf.started === null) return undefined;
  try {
    const live = new LivePlan(definition, app, plan, leaf.input);
    let wait = live.advance(new Segment(leaf.started, true), undefined);
    for (const { at, value } of leaf.resumptions) wait = live.advance(new Segment(at, true), value);
    if (live.emissions !== leaf.emissions)
      return { what: 'effects emitted', recorded: leaf.emissions, rebuilt: live.emissions };
    return sameWait(leaf.wait, wait ?? null) ? undefined : { what: 'waits for', recorded: leaf.wait, rebuilt: wait };
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return { what: thrown.detail, recorded: leaf.wait, rebuilt: thrown.code };
  }
}

function sameWait(a: PlanWait | null, b: PlanWait | null): boolean {
  return equalBytes(encode(a, FRAME_DEPTH_MAX), encode(b, FRAME_DEPTH_MAX));
}
