import { matchesNoEvent, type Pinned, type PolicyRule, policyRule, RepriseError } from '@reprise/contracts';
import type { EffectDefinition } from './effect.js';
import { heirsOf } from './lineage.js';
import { requireDefinitions, requireKnownFields, requireObject } from './parts.js';
import type { PlanDefinition } from './plan.js';
import type { ReducerDefinition } from './reducer.js';

/** The pure part of an application: everything that replay needs, and nothing that touches the outside. */
export interface App {
  readonly reducers: ReadonlyMap<string, ReducerDefinition>;
  readonly plans: ReadonlyMap<string, PlanDefinition>;
  readonly effects: ReadonlyMap<string, EffectDefinition>;
  /** The policy of a world of this app that was never given another. */
  readonly policy?: readonly PolicyRule[];
}

/** The definitions an app is made of; the effects are those of its plans. */
export interface AppSpec {
  readonly reducers: readonly ReducerDefinition[];
  // biome-ignore lint/suspicious/noExplicitAny: a plan's input type is closed over by its own schema
  readonly plans?: readonly PlanDefinition<any>[];
  /**
   * The policy that is in force in each world of the app for which nobody chose another; without one, everything is
   * allowed. It is recorded in the manifest of the world and is no part of the app's pins.
   */
  readonly policy?: readonly PolicyRule[];
}

/** The parts of an app. */
const SPEC_FIELDS = { reducers: true, plans: true, policy: true } as const;

/**
 * Combines definitions. Export it as the default of a module and `reprise verify WORLD --app MODULE`
 * replays the journal.
 *
 * @throws RepriseError `duplicate_definition` when two definitions share a name or migrate from the same one,
 *   `invalid_definition` for anything else in the lists
 */
export function defineApp(spec: AppSpec): App {
  requireObject(spec, 'an app');
  requireKnownFields(spec, SPEC_FIELDS, 'the app');
  requireDefinitions(spec.reducers, 'reducer', 'an app');
  requireDefinitions(spec.plans ?? [], 'plan', 'an app');
  const { policy } = spec;
  if (policy !== undefined) requireRules(policy);
  const plans = byName<PlanDefinition>(spec.plans ?? [], 'plan');
  const effects = new Map<string, EffectDefinition>();
  for (const plan of plans.values()) {
    for (const effect of plan.effects.values()) {
      const known = effects.get(effect.name);
      if (known !== undefined && known !== effect && known.digest !== effect.digest)
        throw duplicate('effect', effect.name);
      effects.set(effect.name, effect);
    }
  }
  const app: App = Object.freeze({
    reducers: byName(spec.reducers, 'reducer'),
    plans,
    effects,
    ...(policy && { policy }),
  });
  heirsOf(app); // lineage/N2
  return app;
}

function requireRules(policy: unknown): void {
  const wrong = Array.isArray(policy) ? policy.findIndex((rule) => !isRule(rule)) : 0;
  if (wrong < 0) return;
  throw new RepriseError('invalid_definition', 'the policy of an app holds something that is not a rule', {
    where: `policy[${wrong}]`,
    expected: 'a list of {effect, decision: allow | deny}; `send` with an event after `#`, or a star at its end',
    actual: Array.isArray(policy) ? policy[wrong] : policy,
  });
}

function isRule(rule: unknown): boolean {
  const checked = policyRule.safeParse(rule);
  return checked.success && !matchesNoEvent(checked.data);
}

/** The definitions of an app as a manifest pins them, each list by name. */
export function pinsOf(app: App): { reducers: Pinned[]; plans: Pinned[]; effects: Pinned[] } {
  return { reducers: pins(app.reducers), plans: pins(app.plans), effects: pins(app.effects) };
}

function pins(map: ReadonlyMap<string, { readonly name: string; readonly digest: string }>): Pinned[] {
  return [...map.values()]
    .map(({ name, digest }) => ({ name, digest }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function byName<T extends { readonly name: string }>(list: readonly T[], what: string): Map<string, T> {
  const map = new Map<string, T>();
  for (const item of list) {
    if (map.has(item.name)) throw duplicate(what, item.name);
    map.set(item.name, item);
  }
  return map;
}

function duplicate(what: string, name: string): RepriseError {
  return new RepriseError('duplicate_definition', `duplicate definition of the ${what} ${name}`, {
    hint: 'Register each definition once; give a changed one a new version.',
  });
}
