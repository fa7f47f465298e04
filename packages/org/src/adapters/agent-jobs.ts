/** Prepares jobs of agents: an agent of the world, the texts that it is shown, and its share of a budget. */
import { putText } from '@reprise/agent';
import { AGENT_JOB, agentJobDetails } from '../pure/job/agent-jobs.js';
import { COMPOSED_BYTES_MAX } from '../pure/job/compose.js';
import type { WorkPrepared } from '../pure/job/contracts.js';
import { limitOf, withinLimits } from '../pure/kit/index.js';
import { composeText } from './compose.js';
import { type JobRequest, NotPrepared, type PrepareHost, type Preparer } from './prepare.js';

/** The preparer of jobs of agents, see `startJob`. */
export const agentPreparer: Preparer = {
  kind: AGENT_JOB,
  async prepare({ details }: JobRequest, { agent: agentOf, adopt, content }: PrepareHost): Promise<WorkPrepared> {
    const { agent: name, shows, aside, wall_ms } = agentJobDetails.parse(details);
    const agent = await agentOf(name);
    if (agent === undefined) throw new NotPrepared('unknown_agent', `there is no agent "${name}"`);
    const { adopted, agents } = await adopt(agent);
    const items = shows.map(({ label, ref }) => ({ label, ref, kind: 'text', view: 'full' }) as const);
    const text = await composeText(content, [{ title: '', items }], COMPOSED_BYTES_MAX);
    return {
      adopted: withinLimits(adopted, {
        max_wall_ms: wall_ms,
        ...(aside === null ? {} : { [limitOf(aside)]: aside.amount }),
      }),
      agents: [...agents],
      message_parts: [{ kind: 'text', text_ref: await putText(content, text) }],
      digest: adopted.def_ref.hex,
      resolved_model: adopted.config.model,
    };
  },
};
