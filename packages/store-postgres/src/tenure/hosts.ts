/** The current lease of a process in a database: begun when a world is opened, and begun anew after it was lost. */
import type { Connections } from '../connection/driver.js';
import { Lease } from './lease.js';

/** Leases of a process, one after the other. */
export class Hosts {
  #lease: Promise<Lease> | undefined;

  constructor(
    private readonly connections: Connections,
    private readonly ttlMs: number,
  ) {}

  /** The lease of this process. @throws RepriseError `store_failed` */
  async current(): Promise<Lease> {
    this.#lease ??= this.#begin();
    const lease = await this.#lease;
    if (lease.holds()) return lease;
    this.#lease = undefined; // it is over, and its own clock has not told yet: much else had to run
    return this.current();
  }

  /** Gives the lease up, when there is one. */
  async giveUp(): Promise<void> {
    await (await this.#lease?.catch(() => undefined))?.giveUp();
    this.#lease = undefined;
  }

  async #begin(): Promise<Lease> {
    try {
      const lease = await Lease.begin(this.connections, this.ttlMs);
      void lease.lost.then(() => {
        this.#lease = undefined;
      });
      return lease;
    } catch (error) {
      this.#lease = undefined;
      throw error;
    }
  }
}
