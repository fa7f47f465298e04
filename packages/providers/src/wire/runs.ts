/** Tools that a provider ran itself: a run can go back to the provider only together with its result. */
import type { RequestIssue } from './request-rules.js';

/** Where a format holds the ids of runs and results. */
export interface RunNames<T> {
  /** The run's id, if the block is a run. */
  runOf(block: T): string | undefined;
  /** The run's id, if the block is a run's result. */
  resultOf(block: T): string | undefined;
}

/** The runs without a result and the results without a run. */
export function oddRuns<T>(blocks: readonly T[], { runOf, resultOf }: RunNames<T>): Set<T> {
  const open = new Map<string, T>();
  const odd = new Set<T>();
  for (const block of blocks) {
    const run = runOf(block);
    const answered = resultOf(block);
    if (run !== undefined) {
      const twice = open.get(run);
      if (twice !== undefined) odd.add(twice);
      open.set(run, block);
    }
    if (answered !== undefined && !open.delete(answered)) odd.add(block);
  }
  for (const block of open.values()) odd.add(block);
  return odd;
}

/** Checks that every run has its result, and every result its run. */
export function checkRuns<T>(blocks: readonly T[], names: RunNames<T>, at: string): RequestIssue[] {
  return [...oddRuns(blocks, names)].map((block) => ({
    rule: names.runOf(block) === undefined ? 'answer_without_call' : 'call_unanswered',
    at,
  }));
}
