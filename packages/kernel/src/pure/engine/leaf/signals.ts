/** The ways in which a fold leaves early. Each has one catcher, named here, and none is an author's error. */
import type { ErrorCode, ErrorDetails, FaultCode } from '@reprise/contracts';
import type { LeafKey } from './leaf-key.js';

/** A leaf is not resident. The driver loads it and folds the frame again: free, since folding is pure. */
export class Miss {
  constructor(
    readonly key: LeafKey,
    /** Leaves that the following deliveries need: loaded as well, else a frame of n cold cells is folded n times. */
    readonly next: readonly LeafKey[] = [],
  ) {}
}

/** The request is refused and nothing is journaled. Caught by the driver, which tells the caller. */
export class Refusal {
  constructor(
    readonly code: ErrorCode,
    readonly what: string,
    readonly facts: ErrorDetails = {},
  ) {}
}

/** The engine's stack or memory ran out. How deep that is differs between engines, so it never becomes a fault. */
export class Exhausted {
  constructor(readonly cause: unknown) {}
}

/** A delivery broke a rule and is dropped. Caught at the delivery's savepoint. */
export class Fault {
  constructor(
    readonly code: FaultCode,
    /** For the caller of a refused request only; never journaled. */
    readonly detail: string,
    readonly cause?: unknown,
  ) {}
}

/** A fault with the error thrown. Engines word it differently, so only the code is ever journaled. */
export function thrownBy({ code, detail, cause }: Fault): Pick<Fault, 'code' | 'detail' | 'cause'> {
  return { code, detail, ...(cause === undefined ? {} : { cause }) };
}

/** A reducer refused its event by `ctx.reject`. Caught at the delivery's savepoint. */
export class Rejected {
  constructor(readonly code: string) {}
}
