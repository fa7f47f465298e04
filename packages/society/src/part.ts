/** Societies as a part of a world. */
import type { PartHost, WorldPart } from '@reprise/agent';
import { type Address, type ArgumentCheck, checkOf, type PolicyRule, requireKnownOptions } from '@reprise/contracts';
import { topic } from '@reprise/flow';
import { memoryPart } from '@reprise/memory';
import { textsPart } from '@reprise/work';
import { keyAdapters } from './adapters/keys.js';
import { type Society, societyOf } from './api/society.js';
import {
  type Capabilities,
  capabilities,
  checkPlan,
  entityReducer,
  groupReducer,
  keygenPlan,
  l1Reducer,
  memoryPlan,
} from './pure/index.js';

const require: ArgumentCheck = checkOf('invalid_definition', 'invalid options of a society');

/** The options of {@link society}. */
export interface SocietyOptions {
  /** What people may do, unless something else is stated for one of them; everything when absent. */
  readonly root?: Capabilities;
  /**
   * The cell of the app that answers the app's own owner tools, after the gate's check. The policy rules for both ways are
   * the app's.
   */
  readonly calls?: Address;
}

/** Cells reach each other along kinship; what crosses it is named here. No adapter reaches a cell of a society. */
const POLICY: readonly PolicyRule[] = [
  { send: 'society/*', who: 'adapter:*', decision: 'deny' },
  { send: 'society/Group@1/*', who: 'cell:society/Entity@1/*', decision: 'allow' },
  { send: 'society/Group@1/*', who: 'cell:society/Swarm@1/*', decision: 'allow' },
  { send: 'society/Entity@1/*', who: 'cell:society/Group@1/*', decision: 'allow' },
  { send: 'society/Swarm@1/*', who: 'cell:society/Group@1/*', decision: 'allow' },
  { send: 'society/Entity@1/*', who: 'cell:flow/Topic@1/society/*', decision: 'allow' },
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
  requireKnownOptions(options, { root: true, calls: true }, 'society');
  const { root = {}, calls = null } = options;
  const parsed = capabilities.safeParse(root);
  require(parsed.success, 'root', 'capabilities', root);
  let hosted: PartHost | undefined;
  return {
    name: 'society',
    uses: [memoryPart(), textsPart],
    reducers: [entityReducer, groupReducer, l1Reducer, topic],
    plans: [checkPlan, keygenPlan, memoryPlan],
    adapters: (host) => {
      hosted = host;
      return keyAdapters();
    },
    policy: POLICY,
    handle: (world) => societyOf(world, (agent) => (hosted as PartHost).adopt(agent) as never, { root, app: calls }),
  };
}
