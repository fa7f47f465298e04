/** An entity as an app uses it: a person or an agent. This object stores nothing: it reads everything from the journal. */

import {
  type AgentWorld,
  type AnyAgent,
  type Duration,
  durationMs,
  type Input,
  type Run,
  type SendOptions,
  stallsOf,
  storeParts,
} from '@reprise/agent';
import {
  isFields,
  present,
  RepriseError,
  requireArgument,
  requireFields,
  requireKnownOptions,
  type Value,
} from '@reprise/contracts';
import type { Store, Trouble } from '@reprise/kernel';
import { command, runOfInput, wire } from '@reprise/org';
import { shownAnswer } from '../answers/shown.js';
import { type AgentStatus, type AgentType, type EntityState, entityReducer } from '../pure/index.js';
import { scoreOf, UNJUDGED } from '../pure/reducer/memory/trust.js';
import { sessionKey } from '../pure/reducer/rights/session.js';
import type { ToolAnswer, ToolArgs } from '../wire/index.js';
import {
  type AgentRegister,
  type AgentRow,
  type CapabilityReport,
  type CapabilityUpdate,
  type Challenge,
  type Proved,
  type RecordedRegister,
  type RecordedUpdate,
  type RecordedVerdict,
  type RegisteredAgent,
  recordedManifest,
  type StatusReport,
  type SwarmManifest,
  type TokenIssuer,
  type TrustScore,
  type Verdict,
} from './answers.js';
import { EntityCaller, type Pages, pagesOf } from './caller.js';
import { type InboxEvent, inboxOf } from './entity-inbox.js';
import { EntityMemory } from './entity-memory.js';
import { type MergeForkOptions, type MergeReport, mergeForkOf } from './merge-fork.js';
import { type By, entityCell, withToken } from './requests.js';
import { type ReviewDecision, type ReviewReport, reviewStaged, type StagedItem, stagedItems } from './returns.js';
import { CreatedSwarm, type SwarmHost } from './swarm.js';
import { cellsOfEntity } from './troubles.js';

/** What the handle of an entity needs of its world. */
export interface EntityHost {
  readonly world: AgentWorld;
  /** Makes tokens for agents that prove who they are. */
  readonly tokens?: ((world: AgentWorld) => TokenIssuer) | undefined;
  /** Signs as an agent whose key is in the vault of the society. @returns the base64 of the signature */
  sign(agent: string, bytes: Uint8Array): Promise<string | undefined>;
}

/** How long a changed status lasts, and who asks for the change. */
export interface StatusOptions extends By {
  /** How long a reactivated agent has from now on, in whole seconds; 0 for no end. */
  readonly ttl?: Duration;
  /** How long a deactivated agent may come back, in whole seconds; seven days when absent. */
  readonly grace?: Duration;
}

/** The hot context of an entity. */
export type HotContext = ToolAnswer<'memory_read_hot'>;

/** A change of a hot context. */
export type HotContextPatch = ToolArgs<'memory_write_hot'>['patch'];

/** Selects agents of a list. */
export interface AgentQuery {
  readonly status?: readonly AgentStatus[];
  readonly agentType?: AgentType;
  readonly after?: string;
  readonly limit?: number;
}

/** An entity of a society, as a program uses it. */
export class Entity extends EntityCaller {
  /** The stores that it reaches: its own, and those of its groups. */
  readonly memory: EntityMemory = new EntityMemory(this);

  constructor(
    private readonly host: EntityHost,
    id: string,
  ) {
    requireFields(host, 'Entity(host)', 'the host of an entity: world.part(society).entity(id) makes it');
    super(host.world, id);
  }

  /** The durable state; undefined for an entity that does not exist. */
  state(): Promise<EntityState | undefined> {
    return this.world.kernel.state([entityReducer, this.id]);
  }

  /**
   * The troubles that keep the entity from going on: of the store, of a cell of it, of a service that its sessions wait for. See
   * `World.trouble`.
   */
  async trouble(): Promise<readonly Trouble[]> {
    return stallsOf(await this.world.trouble(), cellsOfEntity(this.id));
  }

  /**
   * Registers an agent below this entity.
   *
   * @throws RepriseError `request_rejected` with the code of the refusal as its reason: `capability_exceeds_parent`,
   *   `depth_exceeded`, `fanout_exceeded`, `agent_not_active`, `capability_denied`
   * @example
   * const bot = await ann.register({ agentType: 'custom', displayName: 'Filing', capabilities: { tools: ['fetch_*'] } })
   */
  async register(spec: AgentRegister, by: By = {}): Promise<RegisteredAgent> {
    const args = { parent_entity_id: this.id, ...wire<RecordedRegister>(spec, 'register') };
    const { expires_at = null, ...agent } = await this.use('agent_register', args, by);
    return { ...agent, expires_at };
  }

  /**
   * Registers a key of this entity's own: the private keys of the agents that it registers from then on come encrypted for it
   * (`private_key_encrypted`), and `openPrivateKey` opens them.
   *
   * @param publicKey the X25519 public key: the base64 of 32 bytes
   * @throws RepriseError `request_rejected` with `invalid_arguments` for anything else
   */
  async readerKey(publicKey: string, by: By = {}): Promise<ToolAnswer<'agent_reader_key'>> {
    return this.use('agent_reader_key', { public_key: publicKey }, by);
  }

  /** The agents that this entity has registered, a page at a time. */
  async agents(query: AgentQuery = {}): Promise<Pages<AgentRow>> {
    requireKnownOptions(query, { status: true, agentType: true, after: true, limit: true }, 'agents');
    const { status, agentType: agent_type } = query;
    return pagesOf({ limit: 100, ...query }, 200, async (page) => {
      const { agents, next } = await this.use('agent_list', { ...present({ status, agent_type }), ...page });
      return { items: agents.map(({ expires_at = null, ...row }) => ({ ...row, expires_at })), next };
    });
  }

  /**
   * Shows the capabilities of an agent below this entity, or changes them: an absent dimension keeps its value, null takes
   * the parent's. What is narrowed ends at once what is open and no longer permitted.
   */
  async capabilities(agent: string, change: CapabilityUpdate = {}, by: By = {}): Promise<CapabilityReport> {
    return this.use('agent_capabilities', { agent_id: agent, ...wire<RecordedUpdate>(change, 'capabilities') }, by);
  }

  /** Changes the status of an agent below this entity. */
  async setStatus(
    agent: string,
    to: 'activate' | 'suspend' | 'resume' | 'deactivate' | 'reactivate',
    options: StatusOptions = {},
  ): Promise<StatusReport> {
    requireKnownOptions(options, { ttl: true, grace: true, id: true, as: true, actor: true }, 'setStatus');
    const { ttl, grace, ...by } = options;
    const ttl_seconds = secondsOf(ttl, 'setStatus.ttl');
    const grace_seconds = secondsOf(grace, 'setStatus.grace');
    return to === 'deactivate'
      ? this.use('agent_deactivate', { agent_id: agent, ...present({ grace_seconds }) }, by)
      : this.use('agent_set_status', { agent_id: agent, to, ...present({ ttl_seconds }) }, by);
  }

  /** Draws a challenge for an agent below this entity, or for this one: the agent signs `proofBytes` of it. */
  async challenge(agent: string, purpose: 'api' | 'return' | 'node', by: By = {}): Promise<Challenge> {
    return this.use('agent_challenge', { agent_id: agent, purpose }, by);
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
    by: By = {},
  ): Promise<Proved> {
    const answer = await this.use('agent_prove', { agent_id: agent, nonce, signature }, by);
    return withToken(this.world, answer as Value, this.host.tokens);
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
    requireArgument(isFields(agent) && agent.type === 'agent', 'entity.send(agent)', 'an agent of defineAgent', agent);
    requireKnownOptions(options, { id: true, as: true, pin: true, priority: true, session: true }, 'send');
    const { id = crypto.randomUUID(), session = agent.name, priority = 0, as } = options;
    const { world } = this;
    const { adopted, agents } = await world.adopted(agent);
    const parts = await storeParts(world.kernel.content, input, async () => undefined);
    const whole = { ...adopted, agents } as unknown as Value;
    const value = { command_id: id, session, name: agent.name, agent: whole, parts, priority };
    const cell = entityCell(world.kernel, this.address);
    const ack = await command(cell, 'society/Send@1', value, present({ id, as }));
    const key = sessionKey(this.id, session);
    const sent = { id, session: key, whose: this.id, refused: 'society/InputRefused@1' };
    const run = await world.session(key, agent).run(await runOfInput(cell, ack, sent));
    if (run !== undefined) return run as Run<string>;
    const where = this.id;
    throw new RepriseError('invalid_argument', `${where} lacks what this call needs`, { where, expected: 'the run' });
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
  async createSwarm(manifest: SwarmManifest, by: By = {}): Promise<CreatedSwarm> {
    const { world } = this;
    const answered = await this.answered('swarm_create', recordedManifest(manifest), by);
    const created = await this.shown('swarm_create', answered);
    const host: SwarmHost = { world, caller: (entity) => new Entity(this.host, entity) };
    return new CreatedSwarm(host, created.swarm_id, answered.seq, created);
  }

  /**
   * The hot context of this entity: what it is working on, with its chain of sessions.
   *
   * @throws RepriseError `request_rejected` with `agent_not_active` or `capability_denied` as its reason
   */
  async l1(): Promise<HotContext> {
    return this.use('memory_read_hot', {});
  }

  /**
   * Changes the hot context. A field that is absent stays, null empties one; an agent writes `active`, `ephemeral`, its
   * task and its working memory, a person also `prefs` and `delegation`.
   *
   * @param version the version that was read
   * @returns the hot context after the change
   * @throws RepriseError `request_rejected` with `revision_conflict` as its reason when it was changed since, `not_yours`,
   *   or `too_large` beyond 48 KiB
   * @example
   * const { version } = await bot.l1()
   * await bot.writeL1({ agent: { task: { goal: 'Find the limit', progress: 0.5 } } }, version)
   */
  async writeL1(patch: HotContextPatch, version: number, by: By = {}): Promise<HotContext> {
    await this.use('memory_write_hot', { patch, expected_version: version }, by);
    return this.l1();
  }

  /**
   * States whether an item was right. The verdict makes this entity's trust in the author; the verdicts of an agent's
   * parent also decide which stores the agent reaches.
   *
   * @returns the score of the author after it
   * @throws RepriseError `request_rejected` with `not_authorized` as its reason for the author of the item, and those
   *   below it; `no_agent` for an item that no entity wrote
   * @example
   * await ann.assess('group:crew#1', { verdict: 'right', basis: 'user' })
   */
  async assess(item_id: string, verdict: Verdict, by: By = {}): Promise<TrustScore> {
    return this.use('memory_assess', { item_id, ...wire<RecordedVerdict>(verdict, 'assess') }, by);
  }

  /** The trust of this entity in another, from its own verdicts. Without a verdict it is the prior, 0.65. */
  async trust(agent: string): Promise<TrustScore> {
    const { kernel } = this.world;
    const verdicts = (await entityCell(kernel, this.address).row('trust', agent)) ?? UNJUDGED;
    return shownAnswer('memory_assess', { value: scoreOf(this.id, agent, verdicts), refs: [] }, kernel.content);
  }

  /** What an agent of this entity has brought back and nothing was decided on: its items, and what contradicts them. */
  async staging(agent: string): Promise<readonly StagedItem[]> {
    return stagedItems(this.world.kernel, this, agent);
  }

  /**
   * Decides on what an agent has brought back. Each approved item is written with the rights of this entity at that
   * moment; one that it may not write stays staged, and is under `refused`. A return whose review is forced is approved by
   * naming its items.
   *
   * @param by with an `id` it happens once: sent again, it decides on what waited the first time, and answers the same
   * @throws RepriseError `request_rejected` with `staging_unknown` as its reason where nothing waits, `review_forced` for
   *   `approve: 'all'` with a forced review; `capability_denied`, `emcon` or `agent_not_active` where nothing could be written
   * @example
   * await ann.review(agent_id, { approve: 'all' })
   */
  async review(agent: string, decision: ReviewDecision, by: By = {}): Promise<ReviewReport> {
    return reviewStaged(this.world.kernel, this, agent, decision, by);
  }

  /**
   * Brings back what the agents of this entity wrote to their groups in a fork of this world: each item is staged, signed
   * by the agent, and waits for {@link Entity.review}. It needs no id: what an agent brings back a second time is
   * recognized, also after it was decided on, and not staged again. What an agent wrote for itself alone stays in the fork.
   *
   * @param fork the store of the fork
   * @returns one return for each 24 items of an agent, and how much stays behind
   * @throws RepriseError `invalid_argument` for a store without a fork of this world, and for an agent whose key is not
   *   in the vault; `request_rejected` with `agent_not_active`, `too_many_returns` or `signature_invalid` as its reason
   * @example
   * const { returns, stayed } = await ann.mergeFork(sqlite('elsewhere.db'))
   */
  async mergeFork(fork: Store, options: MergeForkOptions = {}): Promise<MergeReport> {
    requireKnownOptions(options, { agents: true, sign: true, as: true }, 'mergeFork');
    const { kernel: world } = this.world;
    return mergeForkOf({ world, parent: this, options, sign: (agent, bytes) => this.host.sign(agent, bytes) }, fork);
  }

  /**
   * The events that reach this entity, the oldest first, then those that arrive; until the world closes or the caller
   * leaves. It is read from the journal and no call of the entity: events that the inbox has dropped are among them.
   *
   * @param after the number of the last event that was seen; 0 for all
   * @example
   * for await (const { event, payload } of ann.inbox()) console.log(event, payload)
   */
  inbox(after = 0): AsyncGenerator<InboxEvent> {
    return inboxOf(this.world.kernel, this.address, after);
  }
}

/** A duration in whole seconds, as it is recorded; 0 for none. */
function secondsOf(duration: Duration | undefined, where: string): number | undefined {
  if (duration === undefined || duration === 0) return duration;
  return Math.ceil(durationMs(duration, where) / 1_000);
}
