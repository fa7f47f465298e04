/** The current lease of a process in a database: begun when a world is opened, and begun anew after it was lost. */
import type { Connections } from '../connection/driver.js';
import { Lease } from './lease.js';

/** Leases of a process, one after the other. */
export class Hosts {
  #lease: Promise<Lease> | undefined;

  constructor(
    private readonly connections: Connections,
    readonly ttlMs: number,
    private readonly address: string | null = null,
    private readonly onLeaving: () => void = () => undefined,
  ) {}

  /** The lease of this process. @throws RepriseError `store_failed` */
  async current(): Promise<Lease> {
    this.#lease ??= this.#begin();
    const mine = this.#lease;
    const lease = await mine;
    if (lease.holds()) return lease;
    this.#drop(mine); // it is over, and its own clock has not told yet: much else had to run
    return this.current();
  }

  /** Gives the lease up, when there is one. */
  async giveUp(): Promise<void> {
    const mine = this.#lease;
    this.#lease = undefined;
    await (await mine?.catch(() => undefined))?.giveUp();
  }

  #begin(): Promise<Lease> {
    const mine = Lease.begin(this.connections, this.ttlMs, this.address);
    mine.then(
      (lease) => {
        lease.onLeaving = this.onLeaving;
        void lease.lost.then(() => this.#drop(mine));
      },
      () => this.#drop(mine),
    );
    return mine;
  }

  /** Only the lease that is over: another caller may have begun the next one. */
  #drop(mine: Promise<Lease>): void {
    if (this.#lease === mine) this.#lease = undefined;
  }
}
