/** An entity as an app uses it: a person or an agent. This object stores nothing: it reads everything from the journal. */
import {
  type AgentWorld,
  type AnyAgent,
  type Input,
  type Run,
  SESSION_REDUCER,
  type SendOptions,
  storeParts,
} from '@reprise/agent';
import {
  type Address,
  present,
  type Ref,
  RepriseError,
  requireKnownOptions,
  type Value,
  type ValueMap,
} from '@reprise/contracts';
import { type Ack, encode, portableSha256, toHex } from '@reprise/kernel';
import { readItemText } from '@reprise/memory';
import { type EntityState, entityAt } from '../pure/index.js';
import { sessionKey } from '../pure/reducer/session-rights.js';
import { keptArgs } from '../served/kept.js';
import { shownAnswer } from '../served/shown.js';
import { keepManifest, type SwarmManifest } from '../tools/swarms.js';
import type { SocietyToolName } from '../wire/index.js';
import type {
  AgentRegister,
  AgentRow,
  CapabilityReport,
  CapabilityUpdate,
  RegisteredAgent,
  StatusReport,
} from './answers.js';
import { type Challenge, type Proved, type TokenIssuer, withToken } from './proofs.js';
import { type Answered, answerOf, ask, type SocietyBy } from './requests.js';
import { CreatedSwarm, refused, type SwarmHost } from './swarm.js';

/** What the handle of an entity needs of its world. */
export interface EntityHost {
  readonly world: AgentWorld;
  /** Makes tokens for agents that prove who they are. */
  readonly tokens?: ((world: AgentWorld) => TokenIssuer) | undefined;
  /** Stores an agent's definition, as a session adopts it. */
  adopt(agent: AnyAgent): Promise<{
    readonly adopted: { readonly def_ref: unknown; readonly config: unknown };
    readonly agents: readonly unknown[];
  }>;
}

/** The options of {@link Entity.setStatus}. */
export interface StatusOptions extends SocietyBy {
  /** The seconds that a reactivated agent has from now on; 0 for no end. */
  readonly ttl_seconds?: number;
  /** The seconds in which a deactivated agent may come back; seven days when absent. */
  readonly grace_seconds?: number;
}

/** Selects agents of a list. */
export interface AgentQuery {
  readonly status?: readonly string[];
  readonly agent_type?: string;
  readonly after?: string;
  readonly limit?: number;
}

/** An entity. */
export class Entity {
  readonly address: Address;

  constructor(
    private readonly host: EntityHost,
    readonly id: string,
  ) {
    this.address = entityAt(id);
  }

  /** The durable state; undefined for an entity that does not exist. */
  async state(): Promise<EntityState | undefined> {
    return (await this.host.world.kernel.state(this.address)) as unknown as EntityState | undefined;
  }

  /**
   * Registers an agent below this entity.
   *
   * @throws RepriseError `request_rejected` with the code of the refusal as its reason: `capability_exceeds_parent`,
   *   `depth_exceeded`, `fanout_exceeded`, `agent_not_active`, `capability_denied`
   * @example
   * const bot = await ann.register({ agent_type: 'custom', display_name: 'Filing', capabilities: { tools: ['fetch_*'] } })
   */
  async register(spec: AgentRegister, by: SocietyBy = {}): Promise<RegisteredAgent> {
    return (await this.call(
      'agent_register',
      { parent_entity_id: this.id, ...spec } as unknown as Value,
      by,
    )) as unknown as RegisteredAgent;
  }

  /** The agents that this entity has registered, a page at a time. */
  async agents(query: AgentQuery = {}): Promise<{ readonly items: readonly AgentRow[]; readonly next?: string }> {
    requireKnownOptions(query, { status: true, agent_type: true, after: true, limit: true }, 'agents');
    const { limit = 100, ...rest } = query;
    const items: AgentRow[] = [];
    for (let after = query.after; ; ) {
      const args = { ...rest, ...present({ after }), limit: Math.min(limit - items.length, 200) };
      const page = (await this.call('agent_list', args as unknown as Value)) as unknown as {
        readonly agents: readonly AgentRow[];
        readonly next?: string;
      };
      items.push(...page.agents);
      if (page.next === undefined) return { items };
      if (items.length >= limit) return { items, next: page.next };
      after = page.next;
    }
  }

  /**
   * Shows the capabilities of an agent below this entity, or changes them: an absent dimension keeps its value, null takes
   * the parent's. What is narrowed ends at once what is open and no longer permitted.
   */
  async capabilities(agent: string, change: CapabilityUpdate = {}, by: SocietyBy = {}): Promise<CapabilityReport> {
    return (await this.call(
      'agent_capabilities',
      { agent_id: agent, ...change } as unknown as Value,
      by,
    )) as unknown as CapabilityReport;
  }

  /** Changes the status of an agent below this entity. */
  async setStatus(
    agent: string,
    to: 'activate' | 'suspend' | 'resume' | 'deactivate' | 'reactivate',
    { ttl_seconds, grace_seconds, ...by }: StatusOptions = {},
  ): Promise<StatusReport> {
    const [name, args] =
      to === 'deactivate'
        ? ['agent_deactivate', present({ agent_id: agent, grace_seconds })]
        : ['agent_set_status', present({ agent_id: agent, to, ttl_seconds })];
    return (await this.call(name as string, args as unknown as Value, by)) as unknown as StatusReport;
  }

  /** Draws a challenge for an agent below this entity, or for this one: the agent signs `proofBytes` of it. */
  async challenge(agent: string, purpose: 'api' | 'return' | 'node', by: SocietyBy = {}): Promise<Challenge> {
    return (await this.call('agent_challenge', { agent_id: agent, purpose }, by)) as unknown as Challenge;
  }

  /**
   * Has a proof checked. It counts once, within 60 seconds of its challenge.
   *
   * @param proof the nonce, and the base64 of the signature
   * @throws RepriseError `request_rejected` with `signature_invalid` or `challenge_expired` as its reason
   */
  async prove(
    agent: string,
    { nonce, signature }: { readonly nonce: string; readonly signature: string },
    by: SocietyBy = {},
  ): Promise<Proved> {
    const answer = await this.call('agent_prove', { agent_id: agent, nonce, signature }, by);
    return withToken(this.host.world, answer, this.host.tokens);
  }

  /**
   * Sends an input to a session of this entity, which it makes where it is new: its models act with the entity's rights.
   *
   * @returns the run that answers it, when its input is durable
   * @throws RepriseError `request_rejected` (`agent_not_active`, `too_many_sessions`)
   */
  async send<A extends AnyAgent>(
    agent: A,
    input: Input,
    options: SendOptions & { readonly session?: string } = {},
  ): Promise<Run<string>> {
    requireKnownOptions(options, { id: true, as: true, pin: true, priority: true, session: true }, 'send');
    const { id = crypto.randomUUID(), session = agent.name, priority = 0, as } = options;
    const { world } = this.host;
    const { adopted, agents } = await this.host.adopt(agent);
    const parts = await storeParts(world.kernel.content, input, async () => undefined);
    const value = { command_id: id, session, name: agent.name, agent: { ...adopted, agents }, parts, priority };
    const ack = await ask(world.kernel, this.address, 'society/Send@1', value, present({ id, as }));
    const key = sessionKey(this.id, session);
    const number = await this.#runOf(ack, id, key);
    const run = await world.session(key, agent).run(number);
    if (run === undefined) throw lost(this.id, 'the run');
    return run as Run<string>;
  }

  /**
   * Creates a swarm: agents below this entity that work on one goal, with a group of their own.
   *
   * @returns the swarm, when it has formed
   * @throws RepriseError `request_rejected`: `capability_exceeds_parent`, `agent_undefined`, `no_price`, `swarm_exists`,
   *   `group_exists`, `invalid_arguments`
   * @example
   * const swarm = await ann.createSwarm({ goal: 'Compare three markets', strategy: 'pipeline', agents })
   * console.log((await swarm.ended()).synthesis)
   */
  async createSwarm(manifest: SwarmManifest, by: SocietyBy = {}): Promise<CreatedSwarm> {
    const { world } = this.host;
    const { id = crypto.randomUUID() } = by;
    const swarm_id = manifest.swarm_id ?? `swarm-${toHex(portableSha256(encode([this.id, id]))).slice(0, 32)}`;
    const kept = await keepManifest({ ...manifest, swarm_id }, world.kernel.content);
    const { value, is_error, seq } = await this.#answered('swarm_create', kept as unknown as Value, { ...by, id });
    if (is_error) throw refused('swarm_create', value);
    const host: SwarmHost = { world, caller: (entity) => new Entity(this.host, entity) };
    return new CreatedSwarm(host, swarm_id, seq, value as unknown as CreatedSwarm['created']);
  }

  /** Calls a tool of the society as this entity. @throws RepriseError `request_rejected` */
  async call(name: string, args: Value, { id = crypto.randomUUID(), as }: SocietyBy = {}): Promise<Value> {
    const { value, is_error } = await this.answerTo(name, args, present({ id, as }));
    if (is_error) throw refusedCall(this.id, name, value);
    return value;
  }

  /**
   * Calls a tool in the form of its schema, as a client of MCP does: texts are stored as content that can be erased, and
   * the answer shows texts.
   *
   * @throws RepriseError `request_rejected`; `request_differs` for an id that was used: its texts are stored again
   * @example
   * await ann.use('memory_write_warm', { type: 'note', content: 'Bodies have at most 1 MiB.', visibility: 'private' })
   */
  async use(tool: SocietyToolName, args: ValueMap, by: SocietyBy = {}): Promise<ValueMap> {
    const { content } = this.host.world.kernel;
    const id = by.id ?? crypto.randomUUID();
    const answered = await this.answerTo(tool, await keptArgs(tool, args, { content, id }), { ...by, id });
    if (answered.is_error) throw refusedCall(this.id, tool, answered.value);
    const texts = new Map<string, string | null>();
    for (const { label, ref } of answered.refs) texts.set(label, await readItemText(content, ref as unknown as Ref));
    return shownAnswer(tool, answered.value, texts) as ValueMap;
  }

  /** Calls a tool as this entity, and returns a refusal as data. */
  async answerTo(name: string, args: Value, by: SocietyBy = {}): Promise<Answered> {
    const { seq: _, ...answered } = await this.#answered(name, args, by);
    return answered;
  }

  async #answered(
    name: string,
    args: Value,
    { id = crypto.randomUUID(), as }: SocietyBy,
  ): Promise<Answered & { readonly seq: number }> {
    const { kernel } = this.host.world;
    const ack = await ask(kernel, this.address, 'society/Call@1', { call_id: id, name, args }, present({ id, as }));
    return { ...(await answerOf(kernel, this.address, ack, id)), seq: ack.seq };
  }

  /** The number of the run that an input began. */
  async #runOf(ack: Ack, input: string, session: string): Promise<number> {
    const { kernel } = this.host.world;
    for await (const { records } of kernel.frames(ack.seq)) {
      for (const record of records) {
        if (record.kind !== 'fact' || record.from === null) continue;
        const isOurs = record.from[1] === this.id && record.name === 'society/InputRefused@1';
        const isSession = record.from[0] === SESSION_REDUCER && record.from[1] === session;
        if (!isOurs && !isSession) continue;
        const { command_id, run, code } = record.value as {
          readonly command_id?: string;
          readonly run?: number;
          readonly code?: string;
        };
        if (command_id !== input) continue;
        if (record.name === 'aos.agent/InputAccepted@1' && run !== undefined) return run;
        if (isOurs || record.name === 'aos.agent/HostCommandRejected@1') throw refusedInput(this.id, code);
      }
    }
    throw kernel.closedBy ?? lost(this.id, 'an open world');
  }
}

function refusedCall(entity: string, name: string, value: Value): RepriseError {
  const { code, error, detail } = value as {
    readonly code?: string;
    readonly error?: string;
    readonly detail?: string;
  };
  const reason = code ?? error ?? 'refused';
  return new RepriseError('request_rejected', `${entity} may not: ${name} was refused with ${reason}`, {
    where: name,
    reason,
    actual: value,
    hint:
      detail === undefined
        ? 'docs/reference/society.md says when each refusal comes.'
        : `The check that failed: ${detail}.`,
  });
}

function refusedInput(entity: string, code: string | undefined): RepriseError {
  return new RepriseError('request_rejected', `the session of ${entity} refused this input`, {
    where: 'send',
    reason: code,
    actual: code,
    hint: 'docs/reference/session-commands.md says when each refusal comes.',
  });
}

function lost(entity: string, what: string): RepriseError {
  return new RepriseError('invalid_argument', `${entity} lacks what this call needs`, {
    where: entity,
    expected: what,
  });
}
