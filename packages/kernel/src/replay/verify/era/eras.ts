/**
 * Eras: which code may replay which part of a journal.
 *
 * A manifest opens an era and pins every definition by name and digest. Only an app whose definitions have exactly
 * those digests replays it; such an app is assembled from the given apps, their definitions and the earlier
 * ones that these bring along.
 */
import { type IngressOf, isRepriseError, type Pinned, RepriseError } from '@reprise/contracts';
import { damaged, readInputs } from '../../../ports/journal/frame.js';
import type { ReadableJournal } from '../../../ports/journal/port.js';
import {
  type App,
  defineApp,
  type EffectDefinition,
  type PlanDefinition,
  pinsOf,
  type ReducerDefinition,
} from '../../../pure/define/index.js';

/** The pins of a manifest. */
export type Pins = Pick<IngressOf<'manifest'>, 'reducers' | 'plans' | 'effects'>;

const PARTS = ['reducers', 'plans', 'effects'] as const;

/** Whether two lists of pins are the same; both are ordered by name. */
export function samePins(a: Pins, b: Pins): boolean {
  return PARTS.every(
    (part) => a[part].length === b[part].length && a[part].every((pin, i) => samePin(pin, b[part][i] as Pinned)),
  );
}

/** Every name of these pins. */
export function namesOf(pins: Pins): string[] {
  return PARTS.flatMap((part) => pins[part].map(({ name }) => name));
}

/** Names that only the first list pins, or that the second pins with another digest. */
export function pinsLacking(pins: Pins, known: Pins): string[] {
  return PARTS.flatMap((part) => {
    const digests = new Map(known[part].map(({ name, digest }) => [name, digest]));
    return pins[part].filter(({ name, digest }) => digests.get(name) !== digest).map(({ name }) => name);
  });
}

/** Names that both pin, with different digests. */
export function editedNames(before: Pins, after: Pins): string[] {
  return PARTS.flatMap((part) => {
    const digests = new Map(after[part].map(({ name, digest }) => [name, digest]));
    return before[part].filter(({ name, digest }) => (digests.get(name) ?? digest) !== digest).map(({ name }) => name);
  }).sort();
}

/**
 * The app with exactly the definitions that a manifest pins.
 *
 * @param apps in order of preference
 * @returns undefined when they lack a definition: they cannot replay the era
 */
export function appFor(pins: Pins, apps: readonly App[]): App | undefined {
  const whole = apps.find((app) => samePins(pinsOf(app), pins));
  if (whole !== undefined) return whole;
  const pool = poolOf(apps);
  const effects = new Map(pins.effects.map(({ name, digest }) => [name, digest]));
  const fits = ({ effects: own }: PlanDefinition) =>
    [...own.values()].every((effect: EffectDefinition) => effects.get(effect.name) === effect.digest);
  const reducers = pins.reducers.map((pin) => pool.reducers.find((one) => samePin(one, pin)));
  const plans = pins.plans.map((pin) => pool.plans.find((one) => samePin(one, pin) && fits(one)));
  if (reducers.includes(undefined) || plans.includes(undefined)) return undefined;
  const app = together(reducers as ReducerDefinition[], plans as PlanDefinition[]);
  return app !== undefined && samePins(pinsOf(app), pins) ? app : undefined;
}

/**
 * The app closest to the pins of a manifest: for a pinned name the definition of `app`, whatever its digest, and
 * otherwise the pinned definition, if one is given.
 *
 * @returns undefined when these definitions cannot be part of one app
 */
export function nearestTo(pins: Pins, app: App, legacy: readonly App[]): App | undefined {
  const pool = poolOf([app, ...legacy]);
  const reducers = pins.reducers.map(
    (pin) => app.reducers.get(pin.name) ?? pool.reducers.find((one) => samePin(one, pin)),
  );
  const plans = pins.plans.map((pin) => app.plans.get(pin.name) ?? pool.plans.find((one) => samePin(one, pin)));
  return together(reducers.filter(isPresent), plans.filter(isPresent));
}

/** The manifest of the era that a frame belongs to. */
export async function eraAt(
  journal: Pick<ReadableJournal, 'findLast'>,
  seq: number,
): Promise<IngressOf<'manifest'> | undefined> {
  const stored = await journal.findLast('manifest', seq);
  if (stored === undefined) return undefined;
  const { ingress } = readInputs(stored.bytes, stored.seq);
  if (ingress.kind === 'manifest') return ingress;
  throw damaged(stored.seq, `the index finds a manifest here, but the frame is a ${ingress.kind}`);
}

interface Pool {
  readonly reducers: readonly ReducerDefinition[];
  readonly plans: readonly PlanDefinition[];
}

/** Every given definition: those of the apps first, then the earlier ones that they bring along. */
function poolOf(apps: readonly App[]): Pool {
  const reducers = apps.flatMap((app) => [...app.reducers.values()]);
  const plans = apps.flatMap((app) => [...app.plans.values()]);
  return {
    reducers: [...reducers, ...reducers.flatMap(({ lineage = [] }) => lineage.map(definitionOf).filter(isPresent))],
    plans: [...plans, ...plans.flatMap(({ replaces = [] }) => replaces.map(definitionOf).filter(isPresent))],
  };
}

function definitionOf<T>({ definition }: { readonly definition?: T }): T | undefined {
  return definition;
}

function together(reducers: readonly ReducerDefinition[], plans: readonly PlanDefinition[]): App | undefined {
  try {
    return defineApp({ reducers, plans });
  } catch (error) {
    if (isRepriseError(error, 'duplicate_definition')) return undefined;
    throw error;
  }
}

function samePin(a: Pinned, b: Pinned): boolean {
  return a.name === b.name && a.digest === b.digest;
}

function isPresent<T>(thing: T | undefined): thing is T {
  return thing !== undefined;
}

/** Refuses to replay an era with definitions other than those it was written with. */
export function unverifiedEra(seq: number, manifest: IngressOf<'manifest'>, apps: readonly App[]): RepriseError {
  const known = new Set(apps.flatMap((app) => PARTS.flatMap((part) => pinsOf(app)[part].map(keyOf))));
  const lacking = PARTS.flatMap((part) => manifest[part].filter((pin) => !known.has(keyOf(pin))));
  return new RepriseError('era_unverified', 'no given app has the definitions that this era was written with', {
    where: `frame ${seq}, in the era from frame ${manifest.seq}`,
    actual: `missing: ${lacking.map(({ name }) => name).join(', ')}`,
    hint: 'Pass the app of that time as `legacy`, or read the frame of a snapshot.',
  });
}

function keyOf({ name, digest }: Pinned): string {
  return `${name} ${digest}`;
}
