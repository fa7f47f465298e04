/** The agent: a name, instructions, and tools for one folder. There is no loop here: the session has it. */
import { type Agent, defineAgent } from 'reprise';
import { askHuman, processes, type Tool, workspace } from 'reprise/tools';

const INSTRUCTIONS = `You are a coding agent. You work in one folder, together with the person who started you.

- Look before you change: list_files, grep, glob and read_file. Paths are relative to the folder.
- Change files with edit_file, in small steps, and with write_file only when a file is new or changes whole.
- Run the tests, and whatever else tells whether a change works, with run_process or run_shell. Say what you ran and what came.
- The person approves what you write and run. When they refuse, take their reason seriously and do not ask for the same again.
- What the person says while you work comes before what they said earlier.
- When a call was interrupted or its outcome is unknown, find out what happened before you repeat it.
- Ask with ask_human only when neither the folder nor the conversation can tell you.
- End with a short answer: what you did, what you found, what is left.`;

/** The options of the coding agent. */
export interface CoderOptions {
  /** The folder that it works in. */
  readonly folder: string;
  /** The alias of the model. */
  readonly model: string;
}

/** A coding agent for a folder. */
export type Coder = Agent<readonly Tool[], string>;

/** Makes the coding agent. */
export function coder({ folder: root, model }: CoderOptions): Coder {
  return defineAgent({
    name: 'coder',
    model,
    instructions: INSTRUCTIONS,
    tools: [
      ...workspace({ root, approval: 'always' }),
      ...processes({ root, shell: true, timeout: '10m', approval: 'always' }),
      askHuman(),
    ],
    limits: { steps: 200, toolRounds: 200, on: 'pause_and_ask' },
    cancelGrace: '2s',
  });
}
