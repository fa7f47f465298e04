/** Plays a scenario in one process of its world: opens it, sends the requests, waits for the end of the run. */
import type { Value } from '@reprise/contracts';
import type { RandomBytes, Store } from '@reprise/kernel';
import type { ModelClient } from '@reprise/providers';
import { VirtualClock } from '@reprise/testkit';
import { type AgentEvent, type AgentWorld, openWorld, type Run, type Tool } from 'reprise';
import { type Scenario, SESSION, type Stage } from './scenario.js';

/** Options of a playback. */
export interface Setting {
  readonly client: ModelClient;
  readonly store: Store;
  readonly clock?: VirtualClock;
  readonly random?: RandomBytes;
  readonly snapshotEvery?: number;
  readonly recheckEvery?: number;
  readonly wrapTool?: (tool: Tool) => Tool;
  /** Releases withheld answers. */
  letGo(): void;
  /** Waits until the model has begun an answer that it does not end. */
  speaking(run: Run): Promise<unknown>;
}

/** The results of a scenario. */
export interface Played {
  readonly outcome: Awaited<ReturnType<Run['result']>>;
  /** The run's events, as an operator is shown them. */
  readonly events: readonly AgentEvent[];
  /** The notes that were made on the way. */
  readonly told: readonly Value[];
  /** The number of open effects at the end of the run. */
  readonly open: number;
}

/** Longer than a closing world waits for running effects. */
const CLOSE_MS = 10_000;

/**
 * Plays a scenario to the end of its run.
 *
 * @param look at the world, before it is closed
 * @throws what brought the world down
 */
export async function play(
  scenario: Scenario,
  setting: Setting,
  look: (world: AgentWorld) => Promise<unknown> = async () => undefined,
): Promise<Played> {
  const { agents, policy, drive = justGo } = scenario;
  const { client, store, random, snapshotEvery, recheckEvery, wrapTool, clock = new VirtualClock() } = setting;
  const world = await openWorld({
    store,
    clock,
    models: { main: client },
    agents,
    ...(policy === undefined ? {} : { policy }),
    ...(random === undefined ? {} : { random }),
    ...(snapshotEvery === undefined ? {} : { snapshotEvery }),
    ...(recheckEvery === undefined ? {} : { recheckEvery }),
    ...(wrapTool === undefined ? {} : { wrapTool }),
  });
  try {
    const told: Value[] = [];
    const run = await drive(stageOf(scenario, setting, { world, clock, told }));
    const outcome = await run.result();
    const events: AgentEvent[] = [];
    for await (const event of run.events()) events.push(event);
    const open = (await world.kernel.openEffects()).length;
    await look(world);
    return { outcome, events, told, open };
  } finally {
    await close(world, clock);
  }
}

/** Closes a world; effects that do not stop get their whole grace period, in the world's time. */
async function close(world: AgentWorld, clock: VirtualClock): Promise<void> {
  const closed = world.close();
  const begun = clock.monotonic();
  while (
    clock.monotonic() - begun < CLOSE_MS &&
    (await Promise.race([closed, clock.settle().then(() => 'open')])) === 'open'
  )
    await clock.advance(Math.min(clock.nextWakeIn ?? CLOSE_MS, CLOSE_MS));
  await closed;
}

const justGo = (stage: Stage): Promise<Run> => stage.say('Go.', 'go');

function stageOf(
  { agents }: Scenario,
  { letGo, speaking }: Setting,
  { world, clock, told }: Pick<Stage, 'world' | 'clock'> & { readonly told: Value[] },
): Stage {
  const session = world.session(SESSION, agents[0]);
  return {
    world,
    clock,
    session,
    say: (text, id) => session.send(text, { id }),
    until: async (run, type) => {
      for await (const event of run.events()) if (event.type === type) return;
    },
    speaking: async (run) => {
      await Promise.race([speaking(run), run.result()]);
    },
    letGo,
    told: (what) => void told.push(what),
  };
}
