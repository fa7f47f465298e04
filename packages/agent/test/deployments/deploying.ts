/** A payer whose tool changes between two processes of one world. */
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import * as z from 'zod';
import { type ApprovalRule, defineAgent, defineTool, type Tool } from '../../src/index.js';
import { play, type Scene, type Step } from '../api/scene.js';

/** A version of the tool `pay`. Without a field it is as in {@link FIRST}. */
export interface PayVersion {
  readonly description?: string;
  readonly args?: z.ZodObject;
  readonly guarantee?: 'idempotent' | 'at_most_once';
  readonly approval?: ApprovalRule<never>;
  readonly timeout?: string;
  readonly run?: Tool<string, Readonly<Record<string, unknown>>>['run'];
}

export const FIRST = z.strictObject({ n: z.int() });

/** What ran: the arguments, in order. */
export type Ran = unknown[];

/** The tool `pay` in a version. */
export function payTool(version: PayVersion, ran: Ran): Tool {
  const { description = 'Pays.', args = FIRST, guarantee, approval = 'always', timeout, run } = version;
  return defineTool({
    name: 'pay',
    description,
    args,
    approval: approval as 'always',
    ...(guarantee === undefined ? {} : { guarantee }),
    ...(timeout === undefined ? {} : { timeout: timeout as '1m' }),
    run:
      run ??
      ((given: unknown) => {
        ran.push(given);
        return 'paid';
      }),
  } as never) as Tool;
}

const payer = (tool: Tool) => defineAgent({ name: 'payer', model: 'main', instructions: 'Pay.', tools: [tool] });

/** A process of the world: its build, and what happens in it. */
export interface Process {
  readonly build: PayVersion;
  readonly steps: readonly Step[];
  /** It ends at once after `act`, with calls under way. */
  readonly ends?: true;
  readonly act: (scene: Scene & { readonly say: (text: string) => Promise<unknown> }) => Promise<void>;
}

/** Runs processes one after another on one world. @returns what ran in each */
export async function deploy(...processes: readonly Process[]): Promise<readonly Ran[]> {
  const store = memory();
  const clock = new VirtualClock();
  const all: Ran[] = [];
  for (const [i, { build, steps, act, ends }] of processes.entries()) {
    const ran: Ran = [];
    all.push(ran);
    const agent = payer(payTool(build, ran));
    const goesOn = i + 1 < processes.length;
    await play({ agents: [agent], steps, store, clock, goesOn }, async (scene) => {
      const say = async (text: string) => {
        await scene.world.session('s', agent).send(text);
        await scene.settle();
      };
      await scene.settle();
      await act({ ...scene, say });
      if (ends !== true) await scene.settle();
    });
  }
  return all;
}

/** The model calls `pay`. */
export const pays = (args: Readonly<Record<string, string | number>> = { n: 1 }): Step => ({
  calls: [{ id: 'c1', tool: 'pay', args }],
});

/** The first process: the model calls `pay`, which waits for a person. */
export const waits = (build: PayVersion = {}): Process => ({
  build,
  steps: [pays()],
  act: async ({ say }) => void (await say('Pay.')),
});
