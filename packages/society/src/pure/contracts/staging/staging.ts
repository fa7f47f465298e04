/**
 * The cell behind a staging store: it alone writes there. It puts in what an agent has brought back, and archives it when
 * the parent has decided.
 */
import * as z from '@reprise/contracts/schema';
import { by, creates, from } from '@reprise/kernel/define';
import { memoryFacts } from '@reprise/org/contracts';
import { returned } from '../agent/identity.js';
import { ENTITY } from '../cell/names.js';

/** The state of a staging store's cell. */
export const stagingState = z.strictObject({
  status: z.enum(['filling', 'open', 'ended']),
  items: z.int().min(0),
});

/** The state of a staging store's cell. */
export type StagingState = z.infer<typeof stagingState>;

/** The events of a staging store's cell. */
export const stagingEvents = {
  /** Makes it: by the parent of the agent that came back. */
  'society/MakeStaging@1': creates(from(z.strictObject({ items: returned.shape.items }), by.above(ENTITY))),
  /** The parent has decided on all items. */
  'society/EndStaging@1': from(z.strictObject({}), by.maker),
  /** A plan of this cell has filled the store, or archived what was in it. */
  'society/StagingChanged@1': from(z.strictObject({ code: z.nullable(z.string().max(96)) }), by.ownPlan),
} as const;

/** The facts of a staging store's cell. */
export const stagingFacts = { 'memory/Linked@1': memoryFacts['memory/Linked@1'] } as const;
