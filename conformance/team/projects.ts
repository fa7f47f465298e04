/** Many projects in one world: what a wake of one costs beside them. */
import type { Said as Answer, Asked } from './model-server.js';
import type { Said } from './run-workflow.js';
import { inScene, type Scene } from './scene.js';
import { roleOf } from './workflow.js';

/** How many of the projects work, one after another. */
const ACTIVE = 10;

/** How much more frames and time of the processor a wake may take beside others. */
const RATIO_MAX = 1.2;

interface Cost {
  readonly frames: number;
  /** Microseconds. */
  readonly cpu: number;
}

/** Opens projects, lets some of them work, and compares with one project alone. */
export async function manyProjects(count: number): Promise<Said> {
  const skills = [{ name: 'worker', description: 'Works', tools: [] }];
  const decide = (asked: Asked): Answer => {
    if (roleOf(asked) !== 'coordinator') return { text: 'It is done.' };
    return asked.step === 0 && asked.last.startsWith('Go')
      ? { calls: [{ tool: 'spawn_agent', args: { task: 'Work', skill: 'worker' } }] }
      : { text: 'Noted.' };
  };
  const alone = await inScene({ skills, decide }, (scene) => costOf(scene, 'alone'));
  const beside = await inScene({ skills, decide }, async (scene) => {
    for (let n = 0; n < count - ACTIVE; n++) await open(scene, `p${n}`);
    return costOf(scene, 'active');
  });
  const frames = beside.frames / alone.frames;
  const cpu = beside.cpu / alone.cpu;
  const line = `${count} projects, ${ACTIVE} active: a wake has ${frames.toFixed(2)} × the frames and ${cpu.toFixed(2)} × the processor time of one alone`;
  return { lines: [line], isRight: frames <= RATIO_MAX && cpu <= RATIO_MAX };
}

/** Opens a project, and waits until its team is read. */
async function open({ world, project }: Scene, id: string): Promise<void> {
  const { address } = project(id);
  await world.kernel.request([address[0], address[1]], { name: 'specialists/Open@1', value: {} });
  await project(id).idle({ within: '30s' });
}

/** Lets projects work one after another; the first is for the compiler. @returns the median of the others */
async function costOf(scene: Scene, name: string): Promise<Cost> {
  const costs: Cost[] = [];
  for (let n = 0; n < ACTIVE; n++) {
    const project = scene.project(`${name}${n}`);
    const { seq } = scene.world.kernel.head;
    const before = process.cpuUsage();
    const run = await project.send('Go on');
    await run.text();
    await project.idle({ within: '30s' });
    const { user, system } = process.cpuUsage(before);
    if (n > 0) costs.push({ frames: scene.world.kernel.head.seq - seq, cpu: user + system });
  }
  const median = (of: (cost: Cost) => number): number => costs.map(of).sort((a, b) => a - b)[costs.length >> 1] ?? 0;
  return { frames: median(({ frames }) => frames), cpu: median(({ cpu }) => cpu) };
}
