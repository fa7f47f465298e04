/**
 * Definitions that are compiled when they are first used: an app that imports this library does not wait for schemas
 * that it may never use. Only for definitions of the library itself, whose tests use each of them: an author has to
 * learn of a mistake where the definition stands.
 */
import { RepriseError } from '@reprise/contracts';
import type { App } from './app.js';
import type { EffectDefinition } from './effect.js';
import type { PlanDefinition } from './plan.js';
import type { ProjectionDefinition } from './projection.js';
import type { ReducerDefinition } from './reducer.js';

const FIELDS = {
  app: ['reducers', 'plans', 'effects', 'policy'],
  effect: ['params', 'receipt', 'guarantee', 'rights', 'reserves', 'settledBy', 'subject', 'remembers', 'digest'],
  plan: ['input', 'effects', 'replaces', 'digest', 'run'],
  projection: ['row', 'from', 'indexes', 'digest', 'fold'],
  reducer: ['state', 'events', 'facts', 'logs', 'tables', 'lineage', 'digest', 'init', 'reduce'],
} as const;

/** Defines an app when one of its parts is first read. */
export function appOnUse(define: () => App): App {
  return onUse({}, FIELDS.app, define);
}

/** Defines an effect when more of it is read than its kind. */
export function effectOnUse<I, P>(name: string, define: () => EffectDefinition<I, P>): EffectDefinition<I, P> {
  return onUse({ type: 'effect', name }, FIELDS.effect, define);
}

/** Defines a plan when more of it is read than its name. */
export function planOnUse<I>(name: string, define: () => PlanDefinition<I>): PlanDefinition<I> {
  return onUse({ type: 'plan', name }, FIELDS.plan, define);
}

/** Defines a projection when more of it is read than its name. */
export function projectionOnUse<R>(name: string, define: () => ProjectionDefinition<R>): ProjectionDefinition<R> {
  return onUse({ type: 'projection', name }, FIELDS.projection, define);
}

/** Defines a reducer when more of it is read than its name. */
export function reducerOnUse<S, R>(name: string, define: () => ReducerDefinition<S, R>): ReducerDefinition<S, R> {
  return onUse({ type: 'reducer', name }, FIELDS.reducer, define);
}

/** An object with the known fields; the first of the others to be read puts all of them in their place. */
function onUse<D extends object>(known: object, others: readonly string[], define: () => D): D {
  const definition = { ...known } as Record<string, unknown>;
  const read = (field: string): unknown => {
    const made = new Map<string, unknown>(Object.entries(define()));
    if (made.get('name') !== definition.name) {
      throw new RepriseError('internal_error', 'a definition has another name than before its first use', {
        expected: definition.name,
        actual: made.get('name'),
      });
    }
    for (const other of others) {
      if (made.has(other)) Object.defineProperty(definition, other, { value: made.get(other), enumerable: true });
      else delete definition[other];
    }
    Object.freeze(definition);
    return definition[field];
  };
  for (const field of others) {
    Object.defineProperty(definition, field, { get: () => read(field), enumerable: true, configurable: true });
  }
  return definition as D;
}
