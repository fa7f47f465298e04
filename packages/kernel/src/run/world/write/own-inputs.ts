/** Inputs that the world itself writes: receipts of its adapters, timers that fired, attempts. No caller asked for them. */
import type { IngressRecord, Receipt } from '@reprise/contracts';
import type { AskedOutside, Deferral } from '../../dispatch/outside.js';
import type { Stamps } from './ingress.js';
import type { Timer } from './timers.js';

/** An input of the world itself, before it is stamped. */
export interface OwnInput {
  /**
   * The input's name: the same in every process, and different for every other input.
   *
   * @param seq the number of the frame that will hold the input
   */
  nameAt?(seq: number): string;
  make(stamps: Stamps, quarantined: boolean): IngressRecord;
}

/** Adapter names that are reserved for the kernel's own receipts. */
export const RESERVED_ADAPTERS: readonly string[] = ['kernel', 'gate'];

/**
 * An effect was settled, by its adapter or, when there is no other source, by the kernel.
 *
 * @param unanswered its adapter is still at work
 */
export function receiptInput(effect: string, attempt: number, receipt: Receipt, unanswered = false): OwnInput {
  return {
    nameAt: () => `receipt ${effect}`,
    make: (stamps, quarantined) => ({
      kind: 'receipt',
      ...stamps,
      principal: RESERVED_ADAPTERS.includes(receipt.adapter) ? 'kernel' : `adapter:${effect}`,
      effect,
      attempt,
      receipt,
      ...(unanswered ? { unanswered } : {}),
      ...flag(quarantined),
    }),
  };
}

/**
 * An effect of a dry fork is answered without having been executed.
 *
 * @param recorded the effect of the original that the receipt belongs to
 */
export function dryInput(effect: string, receipt: Receipt, recorded?: string): OwnInput {
  return {
    nameAt: () => `receipt ${effect}`,
    make: (stamps, quarantined) => ({
      kind: 'receipt',
      ...stamps,
      principal: 'kernel',
      effect,
      attempt: 0,
      receipt,
      ...(recorded === undefined ? {} : { recorded }),
      ...flag(quarantined),
    }),
  };
}

export function timerInput({ cell, plan, name, due }: Timer): OwnInput {
  return {
    nameAt: () => JSON.stringify(['timer', ...cell, plan, name, due]), // a cell's key may hold any separator
    make: (stamps, quarantined) => ({
      kind: 'timer',
      ...stamps,
      principal: 'kernel',
      cell: [cell[0], cell[1]],
      plan,
      name,
      due,
      ...flag(quarantined),
    }),
  };
}

/**
 * An effect is about to start.
 *
 * @param placed called when its place among the frames is known
 */
export function attemptInput(effect: string, attempt: number, placed: () => void): OwnInput {
  return {
    make: (stamps) => {
      placed();
      return { kind: 'attempt', ...stamps, principal: 'kernel', effect, attempt };
    },
  };
}

/** An adapter has deferred its effect to a person or another system. */
export function deferredInput(effect: string, attempt: number, { expires, to }: Deferral): OwnInput {
  return {
    nameAt: () => `deferred ${effect}`,
    make: (stamps) => ({ kind: 'deferred', ...stamps, principal: `adapter:${effect}`, effect, attempt, expires, to }),
  };
}

/** The adapter of a running effect asks a question. */
export function askInput(effect: string, attempt: number, asked: AskedOutside): OwnInput {
  return {
    nameAt: () => `ask ${effect} ${asked.n}`,
    make: (stamps) => ({ kind: 'ask', ...stamps, principal: `adapter:${effect}`, effect, attempt, ...asked }),
  };
}

/** The rest of a cascade. Only its place identifies it: a cascade goes on in the very next frame. */
export const continueInput: OwnInput = {
  nameAt: (seq) => `continue ${seq}`,
  make: (stamps, quarantined) => ({ kind: 'continue', ...stamps, principal: 'kernel', ...flag(quarantined) }),
};

function flag(quarantined: boolean): { quarantined?: true } {
  return quarantined ? { quarantined: true } : {};
}
