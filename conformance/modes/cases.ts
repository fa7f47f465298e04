/** Every scenario on every protocol, as the modes go through them. */
import { SCENARIOS } from '../scenarios/index.js';
import { PROFILE_NAMES, type ProfileName } from '../scenarios/profiles.js';
import { type Replayed, replay } from '../scenarios/run-scenario.js';
import type { Scenario } from '../scenarios/scenario.js';

/** A scenario on a protocol. */
export interface Case {
  readonly scenario: Scenario;
  readonly profile: ProfileName;
  /** Its name in tables and titles. */
  readonly title: string;
}

/** All of them. */
export const CASES: readonly Case[] = SCENARIOS.flatMap((scenario) =>
  PROFILE_NAMES.map((profile) => ({ scenario, profile, title: `${scenario.name} × ${profile}` })),
);

/**
 * The sample that costly modes go through in CI: each scenario on one protocol, the protocols taken in turn. What these
 * modes do to a world (a crash, a tampering, a replay from elsewhere) knows nothing of its protocol, and `fresh` holds
 * every scenario on every one of them. All cases: `scripts/long/scenarios.ts`.
 */
export const SAMPLED: readonly Case[] = CASES.filter(
  ({ scenario, profile }) => profile === PROFILE_NAMES[SCENARIOS.indexOf(scenario) % PROFILE_NAMES.length],
);

/** Cases by title, as tables of tests take them. */
export function titled(cases: readonly Case[]): (readonly [title: string, one: Case])[] {
  return cases.map((one) => [one.title, one]);
}

/**
 * A case by its names.
 *
 * @throws Error when no case fits
 */
export function caseOf(scenario: string, profile: ProfileName): Case {
  const found = CASES.find((one) => one.scenario.name === scenario && one.profile === profile);
  if (found === undefined) throw new Error(`there is no case ${scenario} × ${profile}`);
  return found;
}

const replayed = new Map<Case, Promise<Replayed>>();

/** An undisturbed performance, made once in this process. */
export function freshOf(one: Case): Promise<Replayed> {
  const known = replayed.get(one) ?? replay(one.scenario, one.profile);
  replayed.set(one, known);
  return known;
}
