/** Gives a session the definition of its agent. */
import { type Address, RepriseError } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import type { Adopted } from '../contracts/config.js';
import type { SessionState } from '../contracts/state.js';
import type { AnyAgent } from '../define/agent.js';
import type { StoredAgents } from '../define/store-agent.js';

/** The session that adopts a definition. */
interface Adopter {
  readonly key: string;
  readonly address: Address;
  /** The session's state; undefined before its first input. */
  state(): Promise<SessionState | undefined>;
  /** The labels of a new session. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** Adopts the agent's definition in a new session, and a changed definition in an old one when the agent permits it. */
export async function adoptAgent(
  { world, stored }: { readonly world: World; readonly stored: StoredAgents },
  agent: AnyAgent,
  { key, address, state, labels }: Adopter,
): Promise<void> {
  const { def_ref, config, agents } = await stored.of(agent);
  const known = await state();
  if (
    known !== undefined &&
    (known.depth > 0 || agent.adopt === 'pin' || (await holds(world, address, known, { hex: def_ref.hex, agents })))
  )
    return;
  if (known === undefined) requireOwnKey(key);
  await world.request(address, {
    name: 'aos.agent/AgentAdopted@1',
    value: {
      def_ref,
      config,
      adopt: agent.adopt,
      agents,
      ...(known === undefined && labels !== undefined ? { labels } : {}),
    },
  });
}

/** Whether the session has this definition, and those of the agents below it. */
async function holds(
  world: World,
  address: Address,
  known: SessionState,
  { hex, agents }: { readonly hex: string; readonly agents: readonly Adopted[] },
): Promise<boolean> {
  if (known.def_ref.hex !== hex) return false;
  if (agents.length === 0) return true;
  const rows = await world.table(address, 'agents', { limit: 64 });
  const held = new Map(rows.map(([name, row]) => [name, (row as unknown as Adopted).def_ref.hex]));
  return held.size === agents.length && agents.every(({ def_ref, config }) => held.get(config.agent) === def_ref.hex);
}

/** Refuses keys that the reducer gives to children: a parent's key, `.c` and a number. */
function requireOwnKey(key: string): void {
  if (!/\.c[1-9][0-9]*$/.test(key)) return;
  throw new RepriseError('invalid_argument', 'this session key is reserved for a child session', {
    where: `session ${key}`,
    expected: 'a key that does not end in ".c" and a number',
    actual: key,
    hint: 'Choose another key for this session. A child that exists is reached under its key.',
  });
}
