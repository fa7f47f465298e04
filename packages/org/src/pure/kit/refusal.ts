/** Refusals: thrown before anything is changed, and caught where a call or a command was taken. */
import { requireMethods, type Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';

/** A call or a command is refused. An organization extends it with the closed list of its codes. */
export class Refused<C extends string = string> extends Error {
  readonly code: C;
  /** What a model is told besides the code. */
  readonly details: Readonly<Record<string, Value>>;

  constructor(code: C, details: Readonly<Record<string, Value>> = {}) {
    super(code);
    this.code = code;
    this.details = details;
  }
}

/** What a model can do about a refusal, by its code. */
export type Hints = Readonly<Record<string, string>>;

/** Runs what may be refused. @returns the refusal; undefined when nothing was refused */
export function refusalBy(run: () => void): Refused | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** Runs a command of people, of the app or of another cell: a refusal rejects it, and takes back all that it did. */
export function commanded(ctx: Pick<ReducerContext, 'reject'>, run: () => void): void {
  requireMethods(ctx, ['reject'], 'commanded(ctx)', 'the ctx of a reducer');
  const refused = refusalBy(run);
  if (refused !== undefined) ctx.reject(refused.code);
}
