/** The place of one world in a database. */
import type { Connections } from '../connection/driver.js';

/** A world in a database, as the parts of its store know it. */
export interface WorldPlace {
  readonly connections: Connections;
  /** The number of its row. */
  readonly id: number;
  /** The place as shown to people. */
  readonly where: string;
}

/** A world that this process owns. */
export interface OwnedPlace extends WorldPlace {
  readonly epoch: number;
}
