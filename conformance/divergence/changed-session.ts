/** The real session reducer and a real client, changed: the journal of an agent says where. */
import { agentApp, defineAgent, sessionReducer } from '@reprise/agent';
import { type App, defineApp, memory, type ReducerContext, type Store } from '@reprise/kernel';
import { type ModelClient, verifyRequests } from '@reprise/providers';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { verified } from './changed-code.js';
import type { Catch, Row } from './row.js';

type After = (draft: Record<string, unknown>, event: { readonly name: string }, ctx: ReducerContext) => void;

/** The real session reducer, with something after it. */
function sessionMutant(after: After): App {
  const reducer = {
    ...sessionReducer,
    reduce: (draft: never, event: never, ctx: ReducerContext) => {
      sessionReducer.reduce(draft, event, ctx);
      after(draft, event, ctx);
    },
  };
  return defineApp({ reducers: [reducer], plans: [...agentApp.plans.values()] });
}

/** Of a session of two runs. Frames: 0 manifest, 1 adoption, 2 input, 3 answer, 4 input, 5 answer. */
const SESSION_MUTANTS: readonly (readonly [name: string, how: string, names: string, app: App])[] = [
  [
    'a session’s count of runs',
    'the session reducer counts a run by two',
    'frame 2, record 8 (state), `$.leaves[cell aos.agent/SessionReducer@1 x].state.runs`: `1` → `2`',
    sessionMutant((draft, { name }) => {
      if (name === 'aos.agent/UserInput@1') draft.runs = Number(draft.runs) + 1;
    }),
  ],
  [
    'a session’s end',
    'the session reducer ends its second run as failed',
    'frame 5, record 5 (state), `$.leaves[cell aos.agent/SessionReducer@1 x].state.lifecycle`: `"Completed"` → `"Failed"`',
    sessionMutant((draft) => {
      if (draft.runs === 2 && draft.lifecycle === 'Completed') draft.lifecycle = 'Failed';
    }),
  ],
  [
    'a session’s facts',
    'the session reducer states one more fact at each answer',
    'frame 3, record 5 (state), `$`: a record `state` → a record `fact`',
    sessionMutant((_draft, { name }, ctx) => {
      if (name !== 'aos.agent/LlmStepCompleted@1') return;
      ctx.record('aos.agent/StaleIgnored@1', { event: name, session_epoch: 0, step_epoch: 0 });
    }),
  ],
  [
    'a session that does nothing',
    'the session reducer ignores every event',
    'frame 1, record 1 (fact), `$`: a record `fact` → a record `state`',
    defineApp({
      reducers: [{ ...sessionReducer, reduce: () => undefined }],
      plans: [...agentApp.plans.values()],
    }),
  ],
];

let session: Promise<Store> | undefined;
/** Two runs of an agent, recorded by the real reducer. */
function sessionStore(): Promise<Store> {
  session ??= recordSession();
  return session;
}

async function recordSession(): Promise<Store> {
  const store = memory();
  const agent = defineAgent({ name: 'brief', model: 'main', instructions: 'Be brief.' });
  const models = { main: script({ text: 'One.' }, { text: 'Two.' }) };
  const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) });
  const world = await openWorld({ store, agents: [agent], models, clock, random: seededRandom('session') });
  for (const [i, text] of ['1', '2'].entries()) {
    await (await world.session('x', agent).send(text, { id: `m-${i}` })).text();
  }
  await world.close();
  return store;
}

const reducerRows: readonly Row[] = SESSION_MUTANTS.map(([name, how, names, app]) => ({
  group: 'changed code',
  name,
  how,
  caught: [['verification', 'replay_divergence', names]],
  broken: () => verified(sessionStore(), app),
  sound: () => verified(sessionStore(), agentApp),
}));

/** The requests of the session, written again by a client. */
async function requestsBy(main: ModelClient): Promise<Catch[]> {
  const { different } = await verifyRequests(await (await sessionStore()).openReadonly(), { main });
  return different.slice(0, 1).map(({ seq, expected, actual }) => ({
    where: 'verification',
    code: 'request_differs',
    names: `frame ${seq}, the request: sha256 \`${expected.slice(0, 12)}…\` → \`${actual.slice(0, 12)}…\``,
  }));
}

const colder: ModelClient = { ...script(), write: (request) => script().write({ ...request, temperature: 0 }) };

const requestRow: Row = {
  group: 'changed code',
  name: 'what a model is told',
  how: 'the client writes a temperature into every request; `verify --requests` rebuilds the requests',
  caught: [['verification', 'request_differs', 'frame 2, the request: sha256']],
  broken: () => requestsBy(colder),
  sound: () => requestsBy(script()),
};

/** Mutants of sessions. */
export const CHANGED_SESSIONS: readonly Row[] = [...reducerRows, requestRow];
