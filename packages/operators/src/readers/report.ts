/** The shape of what `reprise readers --json` prints. */
import * as z from '@reprise/contracts/schema';
import { owner } from '../names/owner.js';

const count = z.int().min(0);

/** Why a holder may read a store. */
const READER_YES = [
  /** It is the operator, who may do everything. */
  'operator',
  /** The store is its own. */
  'owner',
  /** It is a member of the group whose store it is. */
  'member',
  /** Rights that were set for it name the store. */
  'rights',
  /** Nothing that was set for it or above it narrows what it may read. */
  'not_narrowed',
] as const;

/** Why a holder may not read a store. */
const READER_NO = [
  /** A person reads the stores of those groups alone of which it is a member, whatever its rights name. */
  'not_member',
  /** A person reads what its own agents bring back, and not what those of others do. */
  'not_own_agent',
  /** Rights in its chain do not name the store. */
  'narrowed',
  /** A cell above it, or the operator, holds it to less. */
  'held',
  /** Rights in its chain have ended. */
  'expired',
  /** A cell above it has ended or was made anew. */
  'broken',
] as const;

/** A holder, and whether it may read the store, with the reason. */
const readerRow = z.strictObject({
  holder: z.string(),
  /** Whose cell it is; null for the operator. */
  of: z.nullable(owner),
  may: z.boolean(),
  reason: z.enum([...READER_YES, ...READER_NO]),
  /** The holder in whose rights the reason stands: itself or one above it; null where no rights were set. */
  by: z.nullable(z.string()),
  /** The name of that holder, where it has one. */
  by_name: z.nullable(z.string()),
  /** What the rights name, in the dimension that decides: `mem_read` or `effect`. */
  patterns: z.nullable(z.array(z.string())),
  /** Of a member: its role in the group. */
  role: z.nullable(z.string()),
});

/** A holder, and whether it may read the store, with the reason. */
export type ReaderRow = z.infer<typeof readerRow>;

/** An item of a store, without its words. */
const readItem = z.strictObject({
  id: z.int().min(1),
  /** The cell that wrote it, by its address; `people` for a write from outside. */
  author: z.string(),
  /** The name of the author, where it has one. */
  author_name: z.nullable(z.string()),
  state: z.string(),
  created_at: count,
});

/** The answer of `readersOf`: who may read an item, and who may not. */
export const readersReport = z.strictObject({
  frame: z.int(),
  /** The scope of the store: `group:research`. */
  store: z.string(),
  /** The item; null when only a store was named. */
  item: z.nullable(readItem),
  /** Those who may first, then those who may not; each in the order of names. */
  rows: z.array(readerRow),
  /** The cursor of the next page of rows; null on the last one. */
  next: z.nullable(z.string()),
});

/** The answer of `readersOf`: who may read an item, and who may not. */
export type ReadersReport = z.infer<typeof readersReport>;
