/** A world with a society, a clock that a test moves, and tools that models call. */
import { type AnyAgent, defineAgent, defineTool, memory, openWorld } from 'reprise';
import type { WorldPart } from 'reprise/org';
import { type ScriptStep, script } from 'reprise/providers';
import { type Capabilities, type Entity, type SocietyOptions, society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import * as z from 'zod';
import { failingSociety } from '../../../../conformance/society/failing.js';

/** A tool that hangs until it is told to stop, and says how many do. */
export function hangingTool(name = 'hang') {
  const state = { hanging: 0, stopped: 0 };
  const tool = defineTool({
    name,
    description: 'Takes very long.',
    args: z.strictObject({}),
    run: async (_, { signal }) => {
      state.hanging++;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      state.stopped++;
      return 'stopped';
    },
  });
  return { tool, state };
}

/** An agent that calls a tool and then speaks. */
export function agentWith(tools: readonly ReturnType<typeof hangingTool>['tool'][], name = 'worker'): AnyAgent {
  return defineAgent({ name, model: 'main', instructions: 'Work.', tools: [...tools] });
}

/** What a test may choose of its world. */
export interface OfficeOptions {
  readonly steps?: readonly ScriptStep[];
  readonly agents?: readonly AnyAgent[];
  readonly society?: SocietyOptions;
  readonly parts?: readonly WorldPart[];
  readonly store?: ReturnType<typeof memory>;
  readonly clock?: VirtualClock;
  /** Its entities can be made to fail, by `failEntity`. */
  readonly failing?: boolean;
}

/** Opens a world with a society. */
export async function openOffice(options: OfficeOptions = {}) {
  const { steps = [], agents = [], clock = new VirtualClock(), store = memory(), parts = [] } = options;
  const part = options.failing === true ? failingSociety(options.society) : society(options.society);
  const models = { main: script(...steps) };
  const world = await openWorld({ store, models, agents: [...agents], parts: [part, ...parts], clock });
  return {
    world,
    office: world.part(part),
    clock,
    store,
    part,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

let names = 0;

/** Registers an agent. */
export async function agentOf(parent: Entity, capabilities: Capabilities = {}, more: object = {}): Promise<string> {
  const displayName = `Agent ${++names}`;
  return (await parent.register({ agentType: 'custom', displayName, capabilities, ...more })).agent_id;
}

/** Why a promise was refused: the reason of the request, or its code. */
export async function refusedWith(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ accepted: value }),
    (error: {
      readonly details?: { readonly reason?: unknown; readonly actual?: unknown };
      readonly code?: unknown;
    }) => ({ error }),
  );
  if (!('error' in outcome)) return outcome;
  return outcome.error.details?.reason ?? outcome.error.code ?? outcome.error;
}
