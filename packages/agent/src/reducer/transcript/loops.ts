/**
 * Loop detection: whether the last steps of a run repeat the same calls.
 *
 * It compares steps in two ways. By calls and results: the same calls gave the same results several times. By calls
 * alone: the same calls came again with any results, since a result may contain the time of day; that needs more
 * repeats. Calls of polling tools are ignored. A batch counts as a set: the order of its calls makes no difference.
 */
import { digestOf } from '@reprise/kernel/define';
import type { LoopPolicy } from '../../contracts/config.js';
import type { PendingCall, ToolOutcome } from '../../contracts/state.js';

/** A step as loop detection remembers it: digests of its calls, and of its calls with their results. */
type StepMark = readonly [calls: string, results: string];

interface Loop {
  /** The number of steps in one round. */
  readonly length: number;
  readonly repeats: number;
  readonly by: 'calls_and_results' | 'calls';
}

/** The digests of a batch; undefined when all its calls are polling calls. */
export function markOf(calls: readonly PendingCall[]): StepMark | undefined {
  const counted = calls.filter(({ polling }) => !polling);
  if (counted.length === 0) return undefined;
  const asked = counted.map(({ signature }) => signature).sort(byCodeUnits);
  const given = counted.map(({ signature, mark = '' }) => `${signature}=${mark}`).sort(byCodeUnits);
  return [short(asked), short(given)];
}

/** The shortest loop at the end of the remembered steps; undefined without a loop. */
export function findLoop(recent: readonly StepMark[], policy: LoopPolicy): Loop | undefined {
  const strict = cycleAtEnd(recent, policy.repeats, ([, results]) => results);
  if (strict !== undefined) return { length: strict, repeats: policy.repeats, by: 'calls_and_results' };
  const blind = cycleAtEnd(recent, policy.blind_repeats, ([calls]) => calls);
  return blind === undefined ? undefined : { length: blind, repeats: policy.blind_repeats, by: 'calls' };
}

/** The shortest cycle length with the required number of equal rounds at the end. */
function cycleAtEnd(
  recent: readonly StepMark[],
  repeats: number,
  read: (mark: StepMark) => string,
): number | undefined {
  for (let length = 1; length * repeats <= recent.length; length++) {
    const tail = recent.slice(-length * repeats);
    if (tail.every((mark, i) => i < length || read(mark) === read(tail[i - length] as StepMark))) return length;
  }
  return undefined;
}

/** The digest of an outcome. */
export function markOfOutcome(outcome: ToolOutcome): string {
  if ('non_execution' in outcome) return short([outcome.non_execution.kind, outcome.non_execution.code ?? '']);
  if ('output_ref' in outcome) return outcome.output_ref.hex.slice(0, 16);
  if ('answer' in outcome) return digestOf(outcome.answer).slice(0, 16);
  return short(outcome.children.map(({ child, status, output_ref }) => `${child}:${status}:${output_ref?.hex ?? ''}`));
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function short(marks: readonly string[]): string {
  return digestOf([...marks]).slice(0, 16);
}
