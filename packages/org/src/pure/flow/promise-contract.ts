/** The schemas of promises: commands, events and state (`flow/Promise@1`). */
import { address, timerFired, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, from, fromAll } from '@reprise/kernel/define';
import { PROMISE_PARTS_MAX } from './bounds.js';
import { anyone, party } from './parties.js';

/** The wire name of the promise reducer. */
export const PROMISE = 'flow/Promise@1';

/** The name of a part of a promise. */
const partName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/);

const values = z.record(partName, value());

/** The way in which a promise ended. */
export const promiseSettlement = z.strictObject({
  status: z.enum(['fulfilled', 'rejected', 'expired', 'cancelled']),
  /** The parts that decided it: those that succeeded, or, when it was rejected, those that failed. */
  values,
});

/** The commands of a promise. */
export const promiseCommands = {
  /**
   * Creates the promise: fulfilled by any part, by all, or by a number of them. `deadline` is in journal milliseconds.
   */
  'flow/OpenPromise@1': creates(
    from(
      z.strictObject({
        parts: z.array(partName).min(1).max(PROMISE_PARTS_MAX),
        needs: z.union([z.enum(['any', 'all']), z.int().min(1).max(PROMISE_PARTS_MAX)]).default('all'),
        deadline: z.exactOptional(z.int().min(0)),
      }),
      anyone,
    ),
  ),
  ...fromAll(
    {
      /** Writes a part: the first write decides the part. */
      'flow/Write@1': z.strictObject({ part: partName, ok: z.boolean().default(true), value: value() }),
      /** Requests one notification of its end; at once when it has ended. */
      'flow/Await@1': z.strictObject({}),
      /** Withdraws a request to be notified. */
      'flow/Unawait@1': z.strictObject({}),
      /** Ends it without a result. */
      'flow/CancelPromise@1': z.strictObject({}),
      /** Removes a promise that has ended and has sent all its notifications. */
      'flow/ClosePromise@1': z.strictObject({}),
    },
    anyone,
  ),
} as const;

/** The event for cells that await a promise, or write to it too late: list it among the events of a reducer. */
export const promiseEvents = { 'flow/Settled@1': promiseSettlement } as const;

/** The state of a promise; the cells that await it are in a table. */
export const promiseState = z.strictObject({
  open: z.boolean(),
  owner: party,
  parts: z.array(partName),
  /** The number of parts that must succeed. */
  needs: z.int(),
  written: z.record(partName, z.strictObject({ ok: z.boolean(), value: value() })),
  /** The bytes of everything that was written. */
  bytes: z.int(),
  outcome: z.nullable(promiseSettlement),
});

/** The tables of a promise: the cells that await it, by address. */
export const promiseTables = { waiting: address } as const;

/** The kernel events that a promise handles. */
export const promiseNotices = { 'sys/TimerFired@1': timerFired } as const;
