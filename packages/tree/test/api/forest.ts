/** Worlds with trees whose model answers by the node that it works for. */
import {
  type AgentWorld,
  type AnyAgent,
  appOf,
  defineAgent,
  openAgentWorld,
  type Price,
  type WorldPart,
} from '@reprise/agent';
import { type Clock, memory, type Store, verifyStore } from '@reprise/kernel';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { expect } from 'vitest';
import { type Trees, type TreesOptions, trees } from '../../src/index.js';

/** A request for a node. */
export interface NodeRequest {
  readonly n: number;
  /** The prompt of the run. */
  readonly prompt: string;
  /** How many answers the run has given. */
  readonly step: number;
  /** How many runs the session has had before this one. */
  readonly run: number;
  readonly last: string;
  readonly request: ScriptRequest;
}

export type Answers = (request: NodeRequest) => ScriptStep | undefined;

/** The usual agent. */
export const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

export const complete = (result: unknown, more: object = {}): ScriptStep => ({
  calls: [{ tool: 'complete', args: { result, ...more } as never }],
});
export const call = (tool: string, args: object): ScriptStep => ({ calls: [{ tool, args: args as never }] });
export const calls = (...all: readonly (readonly [string, object])[]): ScriptStep => ({
  calls: all.map(([tool, args]) => ({ tool, args: args as never })),
});

interface ForestOptions extends Partial<TreesOptions> {
  readonly store?: Store;
  readonly price?: Price;
  readonly clock?: Clock;
  readonly others?: readonly AnyAgent[];
  /** Parts beside the trees. */
  readonly parts?: readonly WorldPart[];
  readonly more?: object;
  /** Whether a run ends once its result was accepted; true when absent. */
  readonly endsAccepted?: boolean;
  /** Whether the world is left as it is, so that another one goes on with it. */
  readonly goesOn?: boolean;
  /** A defect of the reducer of trees: it throws at each delivery that this names. */
  readonly isDefect?: (event: { readonly name: string; readonly value: unknown }, tree: string) => boolean;
}

export interface Forest {
  readonly world: AgentWorld;
  readonly trees: Trees;
  readonly store: Store;
  /** What the model was asked, by node. */
  readonly asked: readonly NodeRequest[];
}

function withDefect(part: WorldPart<Trees>, isDefect: ForestOptions['isDefect']): WorldPart<Trees> {
  if (isDefect === undefined) return part;
  const reducers = (part.reducers ?? []).map((one) => ({
    ...one,
    reduce: (...given: Parameters<typeof one.reduce>) => {
      if (isDefect(given[1], given[2].address[1])) throw new Error('a defect of this test');
      return one.reduce(...given);
    },
  }));
  return { ...part, reducers };
}

/** Opens a world with trees, plays, and verifies the world afterwards. */
export async function forest(
  answers: Answers,
  play: (forest: Forest) => Promise<void>,
  {
    store = memory(),
    price,
    clock,
    others = [],
    parts = [],
    more = {},
    endsAccepted = true,
    goesOn = false,
    isDefect,
    ...options
  }: ForestOptions = {},
): Promise<void> {
  const asked: NodeRequest[] = [];
  const model = scriptBy(
    (request) => {
      const one = readRequest(request);
      asked.push(one);
      // A result that was accepted ends the run.
      const step = endsAccepted && one.last.includes('"accepted":true') ? undefined : answers(one);
      return { usage: { tokens_in: 10, tokens_out: 5 }, ...(step ?? { text: 'Done.' }) };
    },
    price === undefined ? {} : { price },
  );
  const part = withDefect(trees({ agents: [worker, ...others], ...options }), isDefect);
  const world = await openAgentWorld({
    store,
    agents: [],
    parts: [part, ...parts],
    models: { main: price === undefined ? {} : { price } },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
    ...(clock === undefined ? {} : { clock }),
    ...more,
  });
  try {
    await play({ world, trees: world.part(part), store, asked });
    if (!goesOn) expect((await world.verify()).unverified).toBe(0);
  } finally {
    await world.close();
  }
  if (goesOn) return;
  const read = await store.openReadonly?.();
  if (read !== undefined)
    expect((await verifyStore(read as never, { app: appOf([part, ...parts]) })).unverified).toBe(0);
}

function readRequest(request: ScriptRequest): NodeRequest {
  const prompts = request.messages.flatMap(({ text }, i) => (/^You are node #\d+/.test(text) ? [{ text, i }] : []));
  const { text: prompt = '', i = 0 } = prompts.at(-1) ?? {};
  const step = request.messages.slice(i).filter(({ role }) => role === 'assistant').length;
  const n = Number(/^You are node #(\d+)/.exec(prompt)?.[1] ?? 0);
  return { n, prompt, step, run: prompts.length - 1, last: request.last, request };
}
