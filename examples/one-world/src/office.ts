/** The office: a society, a team and trees in one world, with the desk between them. */
import { defineAgent } from 'reprise';
import { defineOwnerTool, putText, type WorldPart } from 'reprise/org';
import { scriptBy } from 'reprise/providers';
import { society } from 'reprise/society';
import { skill, team } from 'reprise/specialists';
import { trees } from 'reprise/tree';
import * as z from 'zod';
import { DESK, desk } from './desk.js';

const delegate = defineOwnerTool({
  name: 'delegate',
  description: 'Gives the team a job, and waits for its report.',
  args: z.strictObject({ goal: z.string() }),
  keep: async ({ goal }, { content }) => ({ goal_ref: await putText(content, goal) }),
});
const survey = defineOwnerTool({
  name: 'survey',
  description: 'Has a tree of agents answer a question.',
  args: z.strictObject({ question: z.string() }),
  keep: async ({ question }, { content }) => ({ question_ref: await putText(content, question) }),
});
const report = defineOwnerTool({
  name: 'report',
  description: 'Reports that the job is done.',
  args: z.strictObject({ text: z.string() }),
  keep: async ({ text }, { content }) => ({ text_ref: await putText(content, text) }),
});

export const leader = defineAgent({
  name: 'leader',
  model: 'main',
  instructions: 'Lead. Delegate all work.',
  tools: [delegate],
});
const surveyor = defineAgent({ name: 'surveyor', model: 'main', instructions: 'Survey. Split what is large.' });

export const members = society({ calls: DESK });
export const dev = team({
  name: 'dev',
  skills: [
    skill({
      name: 'research',
      description: 'Finds things out',
      tools: ['survey'],
      body: 'Ask, then say what you found.',
    }),
  ],
  tools: [survey],
  coordinator: { model: 'main', identity: 'You coordinate.', tools: [report] },
  calls: DESK,
});
export const grove = trees({ agents: [surveyor] });

/** The desk as a part. The society and the team bring the rules that let their agents and the desk talk. */
export const office: WorldPart<{ open(): Promise<unknown> }> = {
  name: 'office',
  reducers: [desk],
  handle: ({ kernel }) => ({ open: () => kernel.request(DESK, { name: 'office/Open@1', value: {} }, { id: 'open' }) }),
};

/** Stands in for a model: it knows by its tools whom it plays. */
const main = scriptBy(({ last, messages, tools }) => {
  const call = (tool: string, args: Readonly<Record<string, string>>) => ({ calls: [{ tool, args }] });
  const isAnswered = messages.at(-1)?.role === 'tool';
  if (tools.includes('delegate'))
    return isAnswered ? { text: last } : call('delegate', { goal: 'Describe this repository' });
  if (tools.includes('report')) {
    if (isAnswered) return { text: 'Noted.' };
    if (last.includes('The survey says')) return call('report', { text: 'It is a library, says the survey.' });
    return call('spawn_agent', { task: 'Find out what this repository is', skill: 'research' });
  }
  if (tools.includes('survey'))
    return isAnswered
      ? { text: `The survey says: ${last.split('\n').at(-1)}` }
      : call('survey', { question: 'What is this?' });
  if (isAnswered) return { text: 'Done.' };
  return call('complete', { result: 'A library.' });
});

/** What a world of the office is opened with, besides its store. */
export const options = { models: { main }, agents: [leader, surveyor], parts: [members, dev, grove, office] };
