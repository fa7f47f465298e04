/**
 * Jobs as a part of a world. Several packages may bring preparers to one world: they share one part of jobs, and each
 * lists its own preparers.
 */
import type { PartHost, WorldPart } from '@reprise/agent';
import { type ArgumentCheck, checkOf, RepriseError, requireKnownOptions } from '@reprise/contracts';
import { agentPreparer } from './adapters/agent-jobs.js';
import { composeAdapter } from './adapters/compose.js';
import { type Preparer, type Preparers, prepareAdapter } from './adapters/prepare.js';
import { QUEUE, queue } from './pure/flow/index.js';
import { JOB, jobReducer, preparePlan } from './pure/job/index.js';

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of workPart');

/** Who prepares the sessions of the jobs of a world. */
interface WorkPartOptions {
  /** What turns requests into sessions, each for one kind. */
  readonly preparers: readonly Preparer[];
}

/** The preparers of each world that is open or being opened. */
const PREPARERS = new WeakMap<PartHost, Preparers>();

/** The texts that owners compose: `work.compose@1`. Every part whose cells emit it lists this one under `uses`. */
export const textsPart: WorldPart<undefined> = {
  name: 'work.texts',
  adapters: () => [composeAdapter()],
  policy: [{ effect: 'work.compose@1', decision: 'allow' }],
  handle: () => undefined,
};

const jobsPart: WorldPart<undefined> = {
  name: 'work',
  uses: [textsPart],
  reducers: [jobReducer, queue],
  plans: [preparePlan],
  adapters: (host) => [prepareAdapter(host, preparersOf(host))],
  policy: [
    { effect: 'work.prepare@1', decision: 'allow' },
    { send: `${QUEUE}/*`, who: `cell:${JOB}/*`, decision: 'allow' },
  ],
  handle: () => undefined,
};

/**
 * Jobs of the agents of a world as a part of it: for owners that use `startJob`. Queues obey those that opened them, so every
 * cell may send to a queue.
 *
 * @example const desks: WorldPart<undefined> = { name: 'desks', uses: [agentJobs], agents: [reviewer], reducers: [desk], handle }
 */
export const agentJobs: WorldPart<undefined> = {
  name: 'work: agents',
  uses: [jobsPart],
  policy: [{ send: `${QUEUE}/*`, who: 'cell:*', decision: 'allow' }],
  adapters: (host) => {
    register(preparersOf(host), agentPreparer);
    return [];
  },
  handle: () => undefined,
};

/**
 * Jobs as a part of a world, with preparers for some kinds of requests.
 *
 * @throws RepriseError `invalid_argument`; when the world is opened, `duplicate_definition` for two preparers of one kind
 * @example
 * const reviews = workPart({ preparers: [reviewer] })
 * await using world = await openWorld({ store, models, parts: [reviews, desk] })
 */
export function workPart(options: WorkPartOptions): WorldPart<undefined> {
  requireKnownOptions(options, { preparers: true }, 'workPart');
  const { preparers } = options;
  require(Array.isArray(preparers) && preparers.length > 0, 'preparers', 'at least one preparer', preparers);
  for (const { kind, prepare } of preparers) {
    const isKind = typeof kind === 'string' && /^[a-z0-9][a-z0-9._:-]{0,63}$/.test(kind);
    require(isKind, 'preparers', 'kinds of at most 64 characters a-z 0-9 . _ : -', kind);
    require(typeof prepare === 'function', 'preparers', 'a function `prepare`', typeof prepare);
  }
  return {
    name: `work: ${preparers.map(({ kind }) => kind).join(', ')}`,
    uses: [jobsPart],
    adapters: (host) => {
      for (const preparer of preparers) register(preparersOf(host), preparer);
      return [];
    },
    handle: () => undefined,
  };
}

function preparersOf(host: PartHost): Preparers {
  const known = PREPARERS.get(host) ?? new Map<string, Preparer>();
  PREPARERS.set(host, known);
  return known;
}

function register(known: Preparers, preparer: Preparer): void {
  if (known.has(preparer.kind)) {
    throw new RepriseError('duplicate_definition', `two preparers read requests of the kind "${preparer.kind}"`, {
      hint: 'Give each kind of request one preparer.',
    });
  }
  known.set(preparer.kind, preparer);
}
