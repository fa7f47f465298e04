/** What the rights of a project cover while its skills are spawned, and while its specialists work. */
import type { AgentWorld } from 'reprise';
import { defineTool } from 'reprise';
import * as z from 'zod';
import type { Said as Answer, Asked } from './model-server.js';
import type { Said } from './run-workflow.js';
import { digestOf, inScene, type Scene } from './scene.js';
import { roleOf } from './workflow.js';

const HOLDER = 'cell:specialists/Project@1/auth' as const;

/** How many specialists have a call under way when the rights are narrowed. */
const UNDER_WAY = 3;

/** The rights of the project are narrowed, before a spawn and while three specialists work. */
export async function narrowGrants(): Promise<Said> {
  const outside = await outsideTheGrant();
  const narrowed = await whileTheyWork();
  return { lines: [...outside.lines, ...narrowed.lines], isRight: outside.isRight && narrowed.isRight };
}

/** A skill names a tool that the rights of the project do not cover. */
async function outsideTheGrant(): Promise<Said> {
  const answers: string[] = [];
  const digests: string[] = [];
  const decide = async (asked: Asked, { world }: Scene): Promise<Answer> => {
    if (asked.last !== 'Try') return { text: 'Noted.' };
    digests.push(await digestOf(world));
    answers.push(...asked.answers);
    return asked.step > 0
      ? { text: 'No.' }
      : { calls: [{ tool: 'spawn_agent', args: { task: 'x', skill: 'worker' } }] };
  };
  return inScene({ skills: SKILLS, tools: [hang(() => undefined)], decide }, async ({ project, world }) => {
    await world.kernel.command('sys/SetRights@1', { holder: HOLDER, exercise: { may: { tool: ['Other'] } } });
    const run = await project().send('Try');
    await run.text();
    await project().idle({ within: '30s' });
    const results = (await project().results()).length;
    const code = /"code":"([^"]+)"/.exec(answers[0] ?? '')?.[1] ?? answers[0] ?? 'nothing';
    const kept = new Set(digests).size === 1 && digests.length > 1;
    const line = `a tool outside the grant: ${code}, results ${results}, digest of the project ${kept ? 'equal' : 'differs'}`;
    return { lines: [line], isRight: code === 'tool_denied' && results === 0 && kept };
  });
}

const SKILLS = [{ name: 'worker', description: 'Works', tools: ['Hang'] }];
const BRIEF =
  'Call the tool that takes very long, and say in the end what has become of the call of this tool. '.repeat(3);

/** A tool that hangs until it is aborted. */
function hang(begun: () => void) {
  return defineTool({
    name: 'Hang',
    description: 'Takes very long.',
    args: z.strictObject({}),
    run: async (_, { signal }) => {
      begun();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'stopped';
    },
  });
}

/** The rights are narrowed while specialists have calls under way. */
async function whileTheyWork(): Promise<Said> {
  let calls = 0;
  let allBegun = (): void => undefined;
  const areBegun = new Promise<void>((resolve) => {
    allBegun = resolve;
  });
  const tool = hang(() => {
    if (++calls === UNDER_WAY) allBegun();
  });
  const told: string[] = [];
  const decide = (asked: Asked): Answer => {
    if (roleOf(asked) === 'coordinator') return { text: 'Noted.' };
    told.push(...asked.answers);
    return asked.step === 0 ? { calls: [{ tool: 'Hang', args: {} }] } : { text: 'It was taken from me.' };
  };
  const options = { skills: SKILLS, tools: [tool], decide, dispatch: 'auto' as const };
  return inScene(options, async ({ project, world }) => {
    const tasks = Array.from({ length: UNDER_WAY }, (_, i) => ({
      key: `t${i}`,
      title: `T${i}`,
      context: BRIEF,
      skill: 'worker',
    }));
    await project().plan(tasks);
    await areBegun;
    const { seq } = await world.kernel.command('sys/SetRights@1', { holder: HOLDER, exercise: { may: { tool: [] } } });
    const { status } = await project().idle({ within: '60s' });
    const ends = await endsOfCalls(world);
    const at = ends.filter((end) => end.seq === seq && end.code === 'cap_denied/revoked').length;
    const between = ends.reduce((most, end) => Math.max(most, end.seq - seq), 0);
    const line = `rights narrowed while ${UNDER_WAY} calls are under way: ${at} ended by the command, frames between ${between}; specialists told ${told.length}, ${status}`;
    const isRight =
      at === UNDER_WAY && ends.length === UNDER_WAY && between === 0 && told.length === UNDER_WAY && status === 'done';
    return { lines: [line], isRight };
  });
}

/** The frames in which calls of tools were ended, and why. */
async function endsOfCalls({ kernel }: AgentWorld): Promise<{ readonly seq: number; readonly code: string | null }[]> {
  const calls = new Set<string>();
  const ends: { readonly seq: number; readonly code: string | null }[] = [];
  for await (const { seq, records } of kernel.frames(0)) {
    for (const record of records) {
      if (record.kind === 'effect' && record.name === 'tool.call@1') calls.add(record.effect);
      if (record.kind === 'settled' && calls.has(record.effect)) ends.push({ seq, code: record.code ?? null });
    }
    if (seq === kernel.head.seq) break;
  }
  return ends;
}
