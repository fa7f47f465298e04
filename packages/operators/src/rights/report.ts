/** The shape of what `reprise rights --json` prints. */
import { capability } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';

const count = z.int().min(0);

/** Who set rights, and where. Rights that a fork inherited, and those that a frame before the first one set, have none. */
const setting = z.strictObject({ frame: count, at: count, by: z.string() });

/** What was set for one holder of a chain. */
const rightsLink = z.strictObject({
  holder: z.string(),
  /** The name of the agent or person, where it has one. */
  name: z.nullable(z.string()),
  /** What it may do itself, and hand on; null for a side that is not narrowed. */
  exercise: z.nullable(capability),
  grant: z.nullable(capability),
  account: z.nullable(z.string()),
  /** What cells above it and the operator hold it to. */
  holds: z.array(z.strictObject({ granter: z.string(), hold: capability })),
  /** The kinds of effects with a remembered approval, and until when; null for no end. */
  approved: z.array(z.tuple([z.string(), z.nullable(count)])),
  /** The last change of its rights. */
  since: z.nullable(setting),
});

/** What was set for one holder of a chain. */
export type RightsLink = z.infer<typeof rightsLink>;

/** The answer of `rightsAt`: what a holder may do, and what in its chain says so. */
export const rightsReport = z.strictObject({
  frame: z.int(),
  holder: z.string(),
  /** What it may do itself and hand on, over its whole chain; null when a broken chain permits nothing. */
  exercise: z.nullable(capability),
  grant: z.nullable(capability),
  account: z.nullable(z.string()),
  /** The holder and those above it, the lowest first, as far as something was set for them. Each narrows those below it. */
  chain: z.array(rightsLink),
  /** Whether a chain that has a maker which was made anew permits nothing. */
  broken: z.boolean(),
});

/** The answer of `rightsAt`: what a holder may do, and what in its chain says so. */
export type RightsReport = z.infer<typeof rightsReport>;
