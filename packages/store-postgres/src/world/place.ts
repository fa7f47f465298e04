/** The place of one world in a database. */
import type { ObjectStore } from '@reprise/kernel';
import type { KeptPacks } from '@reprise/packs';
import type { Connections } from '../connection/driver.js';

/** What the tables of a database have. */
export interface Tables {
  /** Whether pieces may be objects: the tables of version 1 know none. */
  readonly objects: boolean;
  /** Whether frames and blobs may be in packs. */
  readonly packs: boolean;
  /** Asks whether they still have no more, where they may have been upgraded meanwhile. @throws RepriseError `store_failed` */
  requireSame(where: string): Promise<void>;
}

/** A world in a database, as the parts of its store know it. */
export interface WorldPlace {
  readonly connections: Connections;
  /** The number of its row. */
  readonly id: number;
  /** The place as shown to people. */
  readonly where: string;
  /** Where large content is, when it is not in the database. */
  readonly objects: ObjectStore | undefined;
  readonly tables: Tables;
  /** Inflated packs of blobs, by the number of the world and that of the pack, which is never used again. */
  readonly kept: KeptPacks;
}

/** A world that this process owns. */
export interface OwnedPlace extends WorldPlace {
  readonly epoch: number;
  /** The incarnation of the database in which this process has taken it. */
  readonly incarnation: string;
}
