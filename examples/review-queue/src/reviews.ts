/** The desk as a part of a world, and what an app asks of it. */
import type { AgentWorld } from 'reprise';
import { agentJobs, type By, command, OrgCell, putText, readText, type Share, type WorldPart } from 'reprise/org';
import { type Desk, desk, type tables } from './desk.js';
import { reviewers } from './reviewers.js';

export const reviews: WorldPart<ReturnType<typeof handle>> = {
  name: 'reviews',
  uses: [agentJobs],
  agents: reviewers,
  reducers: [desk],
  handle,
};

function handle({ kernel }: AgentWorld) {
  const cell = new OrgCell<Desk, typeof tables>(kernel, [desk.name, 'desk'], { part: 'reviews', of: 'event' });
  const linked = async (text: string) => ({ text_ref: await putText(kernel.content, text) });
  return {
    open: (levels: Desk['levels'], budget: Share) =>
      command(cell, 'reviews/Open@1', { levels, budget }, { id: 'open' }),
    submit: async (title: string, text: string) =>
      command(cell, 'reviews/Submit@1', { title, ...(await linked(text)) }, { id: title }),
    decide: async (document: number, verdict: string, reasons: string, by: By) =>
      command(cell, 'reviews/Decide@1', { document, verdict, ...(await linked(reasons)) }, by),
    fund: (tokens: number, by: By) => command(cell, 'reviews/Fund@1', { tokens }, by),
    /** Each document with its verdict, or how it stands and with whom; and what was said last. */
    async list() {
      const { levels = [] } = (await cell.state()) ?? {};
      const lines: string[] = [];
      for await (const [at, { title, level, status, verdict, said }] of cell.each('documents')) {
        const stands = verdict ?? `${status}, ${levels[level]?.agent ?? 'a person'}`;
        const words = said === null ? '' : `: ${await readText(kernel.content, said)}`;
        lines.push(`${Number(at)} ${title}: ${stands}${words}`);
      }
      return lines;
    },
  };
}
