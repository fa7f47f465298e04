/** Every scenario, in the order in which tables show them. */
import { adapterFailure } from './matrix/adapter-failure.js';
import { boundedOutput } from './matrix/bounded-output.js';
import { cancel } from './matrix/cancel.js';
import { capDeny } from './matrix/cap-deny.js';
import { loop } from './matrix/loop.js';
import { multiTool } from './matrix/multi-tool.js';
import { noTool } from './matrix/no-tool.js';
import { parentChild } from './matrix/parent-child.js';
import { policyDeny } from './matrix/policy-deny.js';
import { singleTool } from './matrix/single-tool.js';
import type { Scenario } from './scenario.js';

/** The ten that every way to reach a model is held to, live as well. */
export const MATRIX: readonly Scenario[] = [
  noTool,
  singleTool,
  multiTool,
  boundedOutput,
  cancel,
  loop,
  policyDeny,
  capDeny,
  adapterFailure,
  parentChild,
];

/** Every scenario. */
export const SCENARIOS: readonly Scenario[] = [...MATRIX];

/**
 * A scenario by its name.
 *
 * @throws Error when there is none
 */
export function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}
