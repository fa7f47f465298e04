/** The results of a runtime, compared with the pinned ones. */
import { readGolden } from '../../conformance/golden/stored.js';
import { GOLDEN_WORLDS } from '../../conformance/golden/worlds.js';
import { readGoldens } from '../../conformance/scenarios/goldens.js';

type ByName<T> = Readonly<Record<string, T>>;

/** The results of a runtime. */
export interface Heads {
  /** The time zone that it was in, as it saw it. */
  readonly zone: string;
  readonly worlds: ByName<unknown>;
  /** Scenario → protocol → the pinned values. A page replays none: their tapes are files. */
  readonly scenarios?: ByName<ByName<unknown>>;
}

/** The expected results of a runtime. */
export type Pinned = Omit<Heads, 'zone'>;

/** The beginning of a cell that reports a difference. */
export const DIFFERENT = 'DIFFERENT';

/** The expected results of every runtime that can replay everything. */
export function pinnedHeads(): Required<Pinned> {
  const worlds = Object.fromEntries(GOLDEN_WORLDS.map(({ name }) => [name, readGolden(name)]));
  return { worlds, scenarios: readGoldens() };
}

/**
 * A cell for each world and one for all scenarios; a dash when no scenarios are requested. A runtime that ignores its
 * time zone proves nothing about that place, so it is reported as different.
 */
export function compared(heads: Heads, pinned: Pinned, zone: string): readonly string[] {
  if (heads.zone !== zone) return [`${DIFFERENT}: it stands in ${heads.zone}, not in ${zone}`];
  const worlds = Object.entries(pinned.worlds).map(([name, golden]) =>
    equal(heads.worlds[name], golden) ? 'equal' : DIFFERENT,
  );
  return [...worlds, pinned.scenarios === undefined ? '–' : scenarioCell(heads.scenarios ?? {}, pinned.scenarios)];
}

function scenarioCell(computed: ByName<ByName<unknown>>, pinned: ByName<ByName<unknown>>): string {
  const pairs = Object.entries(pinned).flatMap(([name, byProtocol]) =>
    Object.entries(byProtocol).map(([protocol, golden]) => ({ name, protocol, golden })),
  );
  const different = pairs.filter(({ name, protocol, golden }) => !equal(computed[name]?.[protocol], golden));
  if (different.length === 0) return `${pairs.length} equal`;
  return `${DIFFERENT}: ${different.map(({ name, protocol }) => `${name} ${protocol}`).join(', ')}`;
}

function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
