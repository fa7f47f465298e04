/** Challenges and proofs as an app uses them. */
import type { AgentWorld, Duration } from '@reprise/agent';
import type { Principal, Value } from '@reprise/contracts';
import { ENTITY } from '../pure/index.js';
import type { ToolAnswer } from '../wire/index.js';

/** Makes tokens for principals: `bearerTokens(world, { secret })` of `reprise/server` is one. */
export interface TokenIssuer {
  issue(principal: Principal, options: { readonly for: Duration }): Promise<string>;
}

/** A challenge for an agent, which it signs once and before it expires: within 60 seconds. */
export type Challenge = ToolAnswer<'agent_challenge'>;

/** The outcome of a proof. A proof that does not hold is a refusal. */
export interface Proved {
  readonly agent_id: string;
  readonly verified: boolean;
  /** For the purpose `api`, in a world that makes tokens: it is stored nowhere. */
  readonly token?: string;
  /** When the token ends; null for another purpose. */
  readonly expires_at: string | null;
}

/** Adds the token to the answer of `agent_prove`: until the end that the answer states, whenever it is asked for again. */
export async function withToken(
  world: AgentWorld,
  answer: Value,
  tokens?: (world: AgentWorld) => TokenIssuer,
): Promise<Proved> {
  const proved = answer as unknown as Proved;
  const { agent_id, expires_at } = proved;
  const left = expires_at === null ? 0 : Date.parse(expires_at) - world.kernel.now;
  if (tokens === undefined || left <= 0) return proved;
  const token = await tokens(world).issue(`cell:${ENTITY}/${agent_id}`, { for: left });
  return { ...proved, token };
}
