/** A swarm after a frame: its slots, what its agents found, and its result in words. */
import type { Address } from '@reprise/contracts';
import type { SwarmRow, SwarmState, SwarmTask } from '@reprise/society/contracts';
import { REDUCERS } from '../names/reducers.js';
import { firstWords, outputText, plainText } from '../texts/index.js';
import { entriesOf, type Reading } from './reading.js';
import type { SocietySwarm, SwarmResult } from './report.js';

/** The swarm of an id. */
export async function swarmOf(id: string, reading: Reading): Promise<SocietySwarm> {
  const { then, content, named } = reading;
  const address: Address = [REDUCERS.swarm, id];
  const state = (await then.state(address)) as unknown as SwarmState;
  const rows = (await entriesOf(then, address, 'members')) as unknown as readonly [string, SwarmRow<'members'>][];
  const { status, strategy, stage, code, tasks, spent, slots: stages, goal_ref } = state;
  const slots = rows.map(([, { slot, index, agent_id, phase, task }]) => {
    return { slot, index, agent: agent_id === null ? null : named(agent_id), phase, task };
  });
  return {
    ...{ id, status, strategy, stage, stages, creator: named(state.creator), code, slots, open: tasks.open, spent },
    goal: firstWords((await plainText(content, goal_ref)).text),
    results: await resultsOf(address, new Map(rows), reading),
    result: await resultOf(state, reading),
  };
}

/** The tasks of a swarm, each with what its agent found. */
async function resultsOf(
  address: Address,
  members: ReadonlyMap<string, SwarmRow<'members'>>,
  { then, content, named }: Reading,
): Promise<SwarmResult[]> {
  const results: SwarmResult[] = [];
  for (const [key, row] of await entriesOf(then, address, 'tasks')) {
    const { member, agent_id, status, attempt, code, output_ref, report_ref } = row as unknown as SwarmTask;
    const { slot = '', index = 0 } = members.get(member) ?? {};
    // A report is stated in words; any other result is the last answer of the agent.
    const read = report_ref === null ? outputText : plainText;
    const ref = report_ref ?? output_ref;
    const words = ref === null ? null : firstWords((await read(content, ref)).text);
    results.push({ task: Number(key), slot, index, agent: named(agent_id), status, attempt, code, words });
  }
  return results;
}

async function resultOf(
  { synthesis_ref: ref, synthesis_kind: kind }: SwarmState,
  { content }: Reading,
): Promise<string | null> {
  if (ref === null) return null;
  return (await (kind === 'llm_output' ? outputText : plainText)(content, ref)).text;
}
