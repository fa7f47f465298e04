/** Finds the agent that a session runs. */
import type { World } from '@reprise/kernel';
import { SESSION_REDUCER } from '../contracts/session.js';
import { sessionState } from '../contracts/state.js';

/** The agent that a session's run has, or that its next run would have; undefined when there is no such session. */
export async function agentOf(world: Pick<World, 'state'>, session: string): Promise<string | undefined> {
  const state = sessionState.safeParse(await world.state([SESSION_REDUCER, session])).data;
  return (state?.run?.config ?? state?.config)?.agent;
}
