/** The agents of `reprise tree`: one that reads a folder, and programs. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type AnyAgent, defineAgent } from '@reprise/agent';
import { RepriseError } from '@reprise/contracts';
import { workspace } from '@reprise/tools';
import type { Bridge } from '@reprise/tree/serve';

/** The names of the agents. */
export const AGENTS = ['worker', 'opencode', 'codex', 'claude'] as const;

/** The name of an agent. */
export type AgentName = (typeof AGENTS)[number];

/** The alias of the model. */
export const MODEL = 'main';

const INSTRUCTIONS = `You work on one part of a larger task, beside other agents. You can read a folder and change nothing in it.

- Look before you answer: list_files, grep, glob and read_file. Paths are relative to the folder.
- Name the files that your findings come from. Name no file that you have not seen.
- Keep your result short and complete: others build on it without seeing what you read.`;

/** What agents are made from. */
interface AgentParts {
  readonly folder: string;
  /** Gives programs their tools; without it no program can be an agent. */
  readonly bridge?: Bridge;
}

/** The agent with a name. The worker is always among a tree's agents, since its model needs no program. */
export async function agentOf(name: AgentName, { folder, bridge }: AgentParts): Promise<AnyAgent> {
  if (name === 'worker')
    return defineAgent({
      name,
      model: MODEL,
      instructions: INSTRUCTIONS,
      tools: workspace({ root: folder, readOnly: true }),
      limits: { steps: 60, toolRounds: 60 },
    }) as AnyAgent;
  const [{ externalAgent }, presets] = await Promise.all([
    import('@reprise/tools/external'),
    import('@reprise/tree/serve'),
  ]);
  const options = { ...(bridge === undefined ? {} : { bridge }), cwd: folder };
  return externalAgent(presets[name](options)) as AnyAgent;
}

const PROGRAMS: Readonly<Record<Exclude<AgentName, 'worker'>, { readonly command: string; readonly install: string }>> =
  {
    opencode: { command: 'opencode', install: 'npm install -g opencode-ai' },
    codex: { command: 'codex-acp', install: 'npm install -g @openai/codex, and codex-acp' },
    claude: { command: 'claude', install: 'npm install -g @anthropic-ai/claude-code' },
  };

/**
 * The version of the program behind an agent; undefined for the worker.
 *
 * @throws RepriseError `invalid_argument` when the program is not installed
 */
export async function programVersion(name: AgentName): Promise<string | undefined> {
  if (name === 'worker') return undefined;
  const { command, install } = PROGRAMS[name];
  try {
    const { stdout } = await promisify(execFile)(command, ['--version'], { timeout: 20_000 });
    return stdout.trim().split('\n')[0] ?? '';
  } catch (cause) {
    throw new RepriseError('invalid_argument', `the program ${command} cannot be started`, {
      where: '--agent',
      actual: name,
      hint: `Install it (${install}), or use --agent worker.`,
      cause,
    });
  }
}
