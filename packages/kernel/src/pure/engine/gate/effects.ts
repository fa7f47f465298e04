/** Opens effects that a plan emits and the gate allows, and effects that were approved. */
import type { Address, DerivedOf, PlanAddress, Receipt, Reserved, Value } from '@reprise/contracts';
import { type App, cellAddress, type EffectDefinition } from '../../define/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { notify, takes, tellOwner } from '../frame/notify.js';
import { wakeWhenDue } from '../frame/wake.js';
import { cellKey, effectKey, isAddress } from '../leaf/leaf-key.js';
import type { EffectLeaf } from '../leaf/leaves.js';
import { holdFor } from '../ledger/accounts.js';
import { withoutSettler } from '../ledger/settle.js';
import type { EffectVerdict } from './gate.js';

/** An effect that the gate allowed. */
interface AllowedEffect {
  readonly effect: string;
  readonly plan: PlanAddress;
  /** The generation of its cell. */
  readonly inc: number;
  readonly emission: number;
  readonly definition: EffectDefinition;
  readonly params: Value;
  readonly timeoutMs: number | null;
  readonly verdict: Extract<EffectVerdict, { allow: true }>;
  readonly cause: number;
  /** Its ids in the worlds whose recorded receipts may answer it. */
  readonly origins: readonly string[];
}

/**
 * Writes an allowed effect into the frame and the ledger; it starts, or waits for an approval.
 *
 * @returns the receipt of an effect that can never be settled; the caller settles it
 */
export function openAllowed(fold: FrameFold, allowed: AllowedEffect): Receipt | undefined {
  const { effect, plan, inc, emission, definition, params, timeoutMs, verdict, cause: c } = allowed;
  const { rule, grant, reserved, approval } = verdict;
  const { name } = definition;
  const guarantee = guaranteeOf(definition, params);
  // The deadline counts from when the effect may start: waiting for an approval costs no time.
  const deadline = timeoutMs === null || approval !== undefined ? null : fold.at + timeoutMs;
  const more = {
    ...(grant === undefined ? {} : { grant }),
    ...(approval === undefined ? reservedOf(reserved) : { approval }),
  };
  const record: DerivedOf<'effect'> = {
    kind: 'effect',
    c,
    effect,
    plan,
    emission,
    name,
    params,
    guarantee,
    rule,
    deadline,
    ...more,
  };
  const index = fold.push(record);
  const queued = [fold.ingress.seq, index] as const;
  const origins = allowed.origins.length === 0 ? {} : { origins: allowed.origins };
  const by = inc === 0 ? {} : { inc };
  const leaf: EffectLeaf = { plan, ...by, emission, name, params, guarantee, deadline, queued, attempt: 0, ...origins };
  if (approval === undefined) return startOrWait(fold, effect, { ...leaf, ...reservedOf(reserved) }, definition, index);
  fold.overlay.set(effectKey(effect), { ...leaf, approval: { to: approval, timeoutMs } });
  tellOwner(fold, plan, 'sys/EffectWaiting@1', { effect, name, plan: [...plan], for: 'approval', to: approval }, index);
  return undefined;
}

/**
 * Releases an effect: an adapter may start it, or the cell that settles it gets a notice.
 *
 * @returns the receipt of one that can never be settled; then nothing was done, and the caller settles it
 */
export function startOrWait(
  fold: FrameFold,
  id: string,
  effect: EffectLeaf,
  definition: EffectDefinition,
  cause: number,
): Receipt | undefined {
  const notice = { effect: id, name: effect.name, params: effect.params, from: [...effect.plan] };
  const settler = settlerOf(fold.env.app, effect, definition);
  if (settler === null || (settler !== undefined && !takes(fold, settler, 'sys/EffectOpened@1', notice))) {
    return { ...withoutSettler(hasFailed(fold, settler) ? 'cell_failed' : 'no_settler'), attempts: 0 };
  }
  if (effect.reserved !== undefined) holdFor(fold, effect.reserved);
  const open: EffectLeaf =
    settler === undefined ? effect : { ...effect, settler, deferred: { expires: effect.deadline, to: null } };
  fold.overlay.set(effectKey(id), wakeWhenDue(fold, id, open));
  if (settler === undefined) fold.emitted.push({ effect: id, name: effect.name });
  else notify(fold, settler, 'sys/EffectOpened@1', notice, cause);
  return undefined;
}

function hasFailed(fold: FrameFold, cell: Address | null): boolean {
  return cell !== null && (fold.overlay.get(cellKey(cell))?.failed ?? null) !== null;
}

/** The cell that settles an effect; undefined when an adapter does, null when its parameters name none. */
function settlerOf(app: App, { params }: EffectLeaf, { settledBy }: EffectDefinition): Address | null | undefined {
  if (settledBy === null) return undefined;
  const named = (params as Readonly<Record<string, Value>>)[settledBy];
  return isAddress(named) ? cellAddress(app, [named[0], named[1]]) : null;
}

function reservedOf(reserved: Reserved | undefined): { readonly reserved?: Reserved } {
  return reserved === undefined ? {} : { reserved };
}

/** The guarantee; parameters with an unknown one fall back to the safest. */
export function guaranteeOf(definition: EffectDefinition, params: Value): EffectLeaf['guarantee'] {
  if (typeof definition.guarantee === 'string') return definition.guarantee;
  const named = (params as Record<string, Value>)[definition.guarantee.param];
  return named === 'idempotent' || named === 'reconcile' ? named : 'at_most_once';
}
