/** What a process remembers of the others: where worlds were the last time, and which processes did not answer. */
import { isRepriseError } from '@reprise/contracts';
import type { FleetHost } from '@reprise/store-postgres';
import type { Outcome } from './wire/outcome.js';

/** The worlds whose place is remembered; beyond it the one found first is forgotten, which costs a look. */
const ROUTES_MAX = 10_000;

/** Where worlds were the last time. It is a hint: the process at the address says when it has the world no longer. */
export class Routes {
  readonly #byWorld = new Map<string, string>();
  /** Processes that did not answer their last request: the next one waits less for a sign of life. */
  readonly #suspects = new Set<string>();

  /** Processes of another fleet in the same database, as they have said themselves: an address names one start of a process. */
  readonly #strangers = new Set<string>();

  get(world: string): string | undefined {
    return this.#byWorld.get(world);
  }

  set(world: string, address: string | undefined): void {
    this.#byWorld.delete(world);
    if (address === undefined) return;
    this.#byWorld.set(world, address);
    if (this.#byWorld.size > ROUTES_MAX) for (const oldest of this.#byWorld.keys()) return this.set(oldest, undefined);
  }

  isSuspect(address: string): boolean {
    return this.#suspects.has(address);
  }

  isStranger(address: string): boolean {
    return this.#strangers.has(address);
  }

  stranger(address: string): void {
    if (this.#strangers.size < ROUTES_MAX) this.#strangers.add(address);
  }

  suspect(address: string, isSuspect: boolean): void {
    if (!isSuspect) this.#suspects.delete(address);
    else if (this.#suspects.size < ROUTES_MAX) this.#suspects.add(address);
  }
}

/**
 * Where a world is asked for that the app of this process refuses (fleet/L3).
 *
 * @param refused what the attempt here said
 * @param turn how often this process was in this place before: each time another one is asked
 * @returns the address of another process that lives; the error of opening when no other lives
 */
export function askedElsewhere(
  refused: Outcome & { readonly kind: 'again' },
  {
    hosts,
    isOther,
    turn,
  }: {
    readonly hosts: readonly Pick<FleetHost, 'address' | 'leaseMs' | 'leaving'>[];
    /** Whether an address is that of another process of the fleet. */
    isOther(address: string): boolean;
    readonly turn: number;
  },
): Outcome {
  const living = hosts.filter(({ leaseMs, leaving }) => leaseMs > 0 && !leaving);
  const addresses = living.flatMap(({ address }) => address ?? []).filter(isOther);
  if (addresses.length > 0) return { kind: 'elsewhere', address: addresses[turn % addresses.length] };
  return isRepriseError(refused.error) ? { kind: 'error', error: refused.error } : refused;
}
