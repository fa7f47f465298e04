/** What a project is told of its team: recorded, so that replay needs no options of the app. */
import { adopted } from '@reprise/agent/contracts';
import { address } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { share } from '@reprise/org/contracts';
import { DISPATCHES, ON_FAILED } from './names.js';

/** The name of a team. */
export const teamName = z.string().regex(/^[a-z0-9._-]{1,40}$/);

/** A team as a project knows it. */
export const teamRow = z.strictObject({
  name: teamName,
  /** The coordinator, as its session adopts it. */
  coordinator: adopted,
  /** The tools that the app's cell answers, by name: of the catalog, and of the coordinator. */
  app_tools: z.array(z.string().min(1).max(64)).max(64),
  coordinator_tools: z.array(z.string().min(1).max(64)).max(64),
  calls: z.nullable(address),
  default_model: z.string().max(128),
  /** The aliases of the models that have no price: with a budget in money, none of their agents is spawned. */
  unpriced: z.array(z.string().max(128)).max(64),
  timeout_ms: z.int().min(1),
  dispatch: z.enum(DISPATCHES),
  on_failed: z.enum(ON_FAILED),
  /** How many memories of a project are live; null for as many as a store has at most. */
  memory_max: z.nullable(z.int().min(1)),
  /** How often in a row the coordinator is woken, while no person acts and no task ends for good. */
  wakes_max: z.int().min(1),
  /** What bounds the use of a project's agents, all together; null for no bound. */
  budget: z.nullable(share),
});

/** A team as a project knows it. */
export type TeamRow = z.infer<typeof teamRow>;
