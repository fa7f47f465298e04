/** The place of one world in a database. */
import type { ObjectStore } from '@reprise/kernel';
import type { Connections } from '../connection/driver.js';

/** A world in a database, as the parts of its store know it. */
export interface WorldPlace {
  readonly connections: Connections;
  /** The number of its row. */
  readonly id: number;
  /** The place as shown to people. */
  readonly where: string;
  /** Where large content is, when it is not in the database. */
  readonly objects: ObjectStore | undefined;
  /** Whether pieces may be objects: the tables of version 1 know none. */
  readonly namesObjects: boolean;
}

/** A world that this process owns. */
export interface OwnedPlace extends WorldPlace {
  readonly epoch: number;
}
