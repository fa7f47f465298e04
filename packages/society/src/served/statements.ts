/**
 * The bytes that an agent outside signs, as base64: it needs no encoder of its own, and cannot sign for another world by
 * mistake.
 */
import type { AgentWorld, ServedResource } from '@reprise/agent';
import type { Value, ValueMap } from '@reprise/contracts';
import { AGENT_ID, proofBytes } from '../pure/index.js';

const URI = 'society://registration/';

/** `society://registration/{parent}/{agent}`: what the key of a new agent signs, before the agent exists. */
export function registrationResource({ kernel }: AgentWorld): ServedResource {
  return {
    uri: `${URI}{parent}/{agent}`,
    name: 'What the key of a new agent signs to be registered below an entity',
    mediaType: 'application/json',
    read: async (_, uri) => {
      const [parent = '', agent = '', ...more] = uri.slice(URI.length).split('/');
      if (more.length > 0 || parent === '' || !AGENT_ID.test(agent)) return undefined;
      const stated = { world: kernel.id, agent, nonce: parent, purpose: 'register' as const };
      return new TextEncoder().encode(JSON.stringify({ ...stated, statement: base64(proofBytes(stated)) }));
    },
  };
}

/** Adds what is signed to the answer of `agent_challenge`; a return states more, which only the agent knows. */
export function withStatement({ kernel }: AgentWorld, answer: Value, args: Value): Value {
  const { nonce } = answer as ValueMap;
  const { agent_id: agent, purpose } = args as ValueMap;
  if (typeof nonce !== 'string' || typeof agent !== 'string' || (purpose !== 'api' && purpose !== 'node'))
    return answer;
  const statement = base64(proofBytes({ world: kernel.id, agent, nonce, purpose }));
  return { ...(answer as ValueMap), statement };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
