/** The agents, what each strategy is good for, and who leads it. */
import { type AnyAgent, defineAgent } from 'reprise';
import { groupTools, type SwarmManifest, swarmTools } from 'reprise/society';
import { workspace } from 'reprise/tools';

/** The group of the person and the three leads. */
export const GROUP = 'research';

/** One question about the folder: how a swarm answers it, and who leads the swarm. */
export interface Question {
  readonly id: string;
  readonly lead: string;
  readonly words: string;
  readonly strategy: SwarmManifest['strategy'];
  /** The tasks of the readers, by slot. Of a hierarchical swarm the lead delegates them. */
  readonly tasks: Readonly<Record<string, string>>;
}

/** What is asked, in this order. When a lead is revoked, the next of the crew takes its question over. */
export const QUESTIONS: readonly Question[] = [
  {
    id: 'begin',
    lead: 'ada',
    words: 'Where does one begin to read?',
    strategy: 'broadcast', // all look at once, each for something else
    tasks: {
      pages: 'Find titles: grep `^# .` in `README*`.',
      programs: 'Find programs: grep `\\bmain\\(\\)` in `*`.',
      commands: 'Find commands: grep `"(start|test|build|dev)":` in `package.json`.',
    },
  },
  {
    id: 'unfinished',
    lead: 'ben',
    words: 'What is unfinished?',
    strategy: 'pipeline', // each goes on from what the one before it found
    tasks: {
      find: 'Find marks: grep `\\b(TODO|FIXME|XXX|HACK)\\b` in `*`.',
      check: 'Check what was found: read each line again, and keep what is there.',
      pick: 'Pick the first three.',
    },
  },
  {
    id: 'hard',
    lead: 'cleo',
    words: 'What is hard to read?',
    strategy: 'hierarchical', // the lead delegates, and collects
    tasks: {
      long: 'Find long lines: grep `^.{120,}$` in `*`.',
      deep: 'Find deep nesting: grep `^ {20,}\\S` in `*`.',
      dense: 'Find dense lines: grep `\\?.*:.*\\?.*:` in `*`.',
    },
  },
];

const LEAD = `You lead a swarm of readers that answers one question about a folder. Delegate where you are asked to, wait for your readers (swarm_task, collect), share each finding in the group ${GROUP} (memory_write_warm: path:line: text of the line), and finish (swarm_task, finish).`;
const HASTY = `${LEAD} You do not wait: you share what you believe before your readers have looked.`;
const READER =
  'You read for a swarm. Do your task, share each finding in the group of your swarm (memory_write_warm), and answer with one finding a line, as path:line: text of the line.';
const JUDGE =
  'You check a finding of another agent: read that line of the file. Give your verdict with memory_assess, and answer with it: right or wrong.';

/** The agents that sessions run. */
export function crewOf(root: string) {
  const reading = workspace({ root, readOnly: true });
  const agent = (name: string, instructions: string, tools: AnyAgent['tools']) =>
    defineAgent({ name, model: 'main', instructions, tools: [...tools] });
  return {
    lead: agent('lead', LEAD, [...groupTools, ...swarmTools]),
    hasty: agent('hasty', HASTY, [...groupTools, ...swarmTools]),
    reader: agent('reader', READER, [...reading, ...groupTools]),
    judge: agent('judge', JUDGE, [...reading, ...groupTools]),
  };
}

/** The agents that sessions run. */
export type Crew = ReturnType<typeof crewOf>;

/** What the agents of the crew may do; their readers read, and write to the group of their swarm alone. */
export const LEADS_MAY = { tools: ['read_file', 'list_files', 'grep', 'glob', 'memory_*', 'swarm_*'] };
const READERS_MAY = { tools: ['read_file', 'list_files', 'grep', 'glob', 'memory_write_warm'] };

/** The manifest of a swarm. */
export function manifestOf(id: string, { words, strategy, tasks }: Question, lead: string): SwarmManifest {
  const agents = Object.entries(tasks).map(([slot, task]) => ({
    ...{ slot, task, agent: 'reader', agentType: 'swarm-worker' as const, capabilities: READERS_MAY, count: 1 },
  }));
  return { swarmId: id, goal: words, strategy, coordinatorAgentId: lead, agents };
}

/** What a lead is asked. */
export function leading(id: string, { words, strategy, tasks }: Question): string {
  const delegate = Object.entries(tasks).map(([slot, task]) => `Delegate to ${slot}: ${task}`);
  return [`Lead the swarm ${id}: ${words}`, ...(strategy === 'hierarchical' ? delegate : [])].join('\n');
}
