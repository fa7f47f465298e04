/** Societies as a part of a world. */

import { type AgentWorld, type Duration, durationMs, type WorldPart } from '@reprise/agent';
import {
  type Address,
  type ArgumentCheck,
  type Capability,
  capability,
  checkOf,
  isRepriseError,
  type PolicyRule,
  requireKnownOptions,
  type Value,
} from '@reprise/contracts';
import { type AnyAdapter, encode, toHex } from '@reprise/kernel';
import { canonical } from '@reprise/kernel/authority';
import { callRules, memoryPart, textsPart, workPart } from '@reprise/org';
import { topic } from '@reprise/org/contracts';
import { archiveAdapter } from './adapters/archive.js';
import { conflictsAdapter } from './adapters/conflicts.js';
import { eraseAdapter } from './adapters/erase.js';
import { societyKeys } from './adapters/keys.js';
import { memberPreparer } from './adapters/member.js';
import { swarmCheckAdapter } from './adapters/swarm-check.js';
import { type KeyVault, keyRefOf, memoryVault } from './adapters/vault.js';
import { verifyAdapter } from './adapters/verify.js';
import type { TokenIssuer } from './api/answers.js';
import { type Society, societyOf } from './api/society.js';
import {
  type Capabilities,
  capabilities,
  ENTITY,
  entityReducer,
  groupReducer,
  l1Reducer,
  SOCIETY_BOUNDS,
  stagingReducer,
  swarmReducer,
} from './pure/index.js';
import * as plans from './pure/plans/index.js';
import { followedSwarms } from './served/followed.js';
import { servedSociety } from './served/served.js';
import { swarmTools } from './tools/tools.js';

const require: ArgumentCheck = checkOf('invalid_definition', 'invalid options of a society');

/** How a society is set up: its keys, its root, its times, and who may enter. */
export interface SocietyOptions {
  /** Where the private keys of agents are kept; in memory when absent, where they end with the process. */
  readonly keys?: KeyVault;
  /** Makes tokens for agents that prove who they are: `bearerTokens` of `reprise/server`, for a world that is served. */
  readonly tokens?: (world: AgentWorld) => TokenIssuer;
  /** What people may do, unless something else is stated for one of them; everything when absent. */
  readonly root?: Capabilities;
  /**
   * How long a deactivated agent may come back before it is removed, unless the deactivation states another time; seven
   * days when absent. A person's entity keeps the time that its society had when it was made, and hands it to its agents.
   */
  readonly grace?: Duration;
  /**
   * The cell of the app that answers the app's own owner tools, after the gate's check. The society brings the policy
   * rules for both ways.
   */
  readonly calls?: Address;
  /**
   * What people may send and read who are not in the society: nothing when absent. Rights that the app sets for a person
   * itself (`sys/SetRights@1`) count instead. It stands from the first opening with the society on.
   */
  readonly strangers?: Capability;
}

/** People whom the society does not know reach no cell of its world. Who may approve something is stated with it. */
const NOTHING: Capability = { may: { read: [], send: [] } };

/**
 * Which cells of a society reach which follows from the senders of their events. Stated here: a swarm opens a group that
 * is not there yet, and the topics of groups, whose events are open to the cells that the policy lets through.
 */
const POLICY: readonly PolicyRule[] = [
  { send: 'society/Group@1/*', who: 'cell:society/Swarm@1/*', decision: 'allow' },
  { send: 'flow/Topic@1/society/*', who: 'cell:society/Group@1/*', decision: 'allow' },
  { send: 'flow/Topic@1/society/*', who: 'adapter:*', decision: 'deny' },
  { send: 'flow/Topic@1/society/*', who: 'cell:*', decision: 'deny' },
  { effect: 'society.*', decision: 'allow' },
  { effect: 'identity.*', decision: 'allow' },
];

/**
 * A society as a part of a world: people, the agents that they register, and what those may do.
 *
 * @throws RepriseError `invalid_definition`
 * @example
 * const office = society()
 * await using world = await openWorld({ store, models, agents: [filing], parts: [office] })
 * const ann = await world.part(office).human('ann')
 * const bot = await ann.register({ agent_type: 'custom', display_name: 'Filing', capabilities: { tools: ['fetch_*'] } })
 */
export function society(options: SocietyOptions = {}): WorldPart<Society> {
  const known = { keys: true, tokens: true, root: true, grace: true, calls: true, strangers: true } as const;
  requireKnownOptions(options, known, 'society');
  const { root = {}, grace = SOCIETY_BOUNDS.grace_ms, calls = null, keys = memoryVault(), tokens } = options;
  const { strangers = NOTHING } = options;
  const parsed = capabilities.safeParse(root);
  require(parsed.success, 'root', 'capabilities', root);
  require(capability.safeParse(strangers).success, 'strangers', 'a capability of the kernel', strangers);
  const graceMs = durationOf(grace);
  const sign = (agent: string, bytes: Uint8Array) => keys.sign(keyRefOf(agent), bytes);
  const kept = societyKeys(keys);
  return {
    name: 'society',
    uses: [memoryPart(), textsPart, workPart({ preparers: [memberPreparer] })],
    reducers: [entityReducer, groupReducer, l1Reducer, stagingReducer, swarmReducer, topic],
    plans: Object.values(plans),
    adapters: (host) => [
      ...kept.adapters(host),
      verifyAdapter(host),
      conflictsAdapter(host),
      archiveAdapter(host),
      eraseAdapter(host),
      swarmCheckAdapter(host) as AnyAdapter,
    ],
    async started(world) {
      await boundStrangers(world, strangers);
      await kept.clear(world.kernel);
      return undefined;
    },
    policy: [...POLICY, ...callRules(ENTITY, calls)],
    servedIn: (world) => servedSociety(world, tokens),
    organizations: (world) => [followedSwarms(world)],
    tools: swarmTools,
    handle: (world) => societyOf(world, { root, app: calls, graceMs, tokens, sign }),
  };
}

function durationOf(grace: Duration): number {
  try {
    return durationMs(grace, 'grace');
  } catch (error) {
    require(!isRepriseError(error, 'invalid_argument'), 'grace', "a duration up to 366 days, such as '7d'", grace);
    throw error;
  }
}

/** The holder of the rights of people for whom none were set (GATE-31). */
const STRANGERS = 'human:*';

/** Sets what people may do who are not in the society. */
async function boundStrangers({ kernel }: AgentWorld, strangers: Capability): Promise<void> {
  const { declared } = await kernel.rights(STRANGERS);
  const exercise = canonical(strangers);
  if (isEqual(declared?.exercise ?? null, exercise)) return;
  await kernel.command('sys/SetRights@1', { holder: STRANGERS, exercise: exercise as never });
}

function isEqual(a: Capability | null, b: Capability): boolean {
  return a !== null && toHex(encode(a as unknown as Value)) === toHex(encode(b as unknown as Value));
}
