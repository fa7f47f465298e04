/**
 * Orders of changes around agents whose cells fail: the same changes happen in a world in which a cell has failed and was
 * revived, and in one in which it never did, and both are then asked the same.
 *
 * The adversary is a cell that fails: of an agent, of the agent that made it, of a group, or of several at once. What is said
 * to it meanwhile does not arrive.
 */
import { type AgentWorld, defineAgent, isRepriseError, memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import type { WorldPart } from 'reprise/org';
import { type ScriptStep, scriptBy } from 'reprise/providers';
import type { Entity, Society, society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { failEntity, failingSociety } from '../../../../conformance/society/failing.js';
import { memoryVault } from '../../src/adapters/vault.js';
import { comeBack } from './comeback.js';
import { desk } from './desk.js';

/** The agents of the scene: ann made the boss, and the boss made the bot. */
export const AGENTS = ['boss', 'bot'] as const;
export const GROUPS = ['crew', 'club'] as const;
/** The cells that fail. */
export const CELLS = ['boss', 'bot', 'crew'] as const;

type AgentName = (typeof AGENTS)[number];
type GroupName = (typeof GROUPS)[number];
export type CellName = (typeof CELLS)[number];

/** A change, or what happens to a cell or to the world. */
export type Step =
  | { readonly step: 'tools'; readonly of: AgentName; readonly tools: readonly string[] | null }
  | { readonly step: 'reads'; readonly of: AgentName; readonly visibility: readonly ('private' | 'group')[] }
  | { readonly step: 'floor'; readonly of: AgentName; readonly tier: 'untrusted' | 'high' }
  | { readonly step: 'status'; readonly of: AgentName; readonly to: 'suspend' | 'resume' | 'deactivate' | 'reactivate' }
  | { readonly step: 'role'; readonly of: AgentName; readonly group: GroupName; readonly role: 'viewer' | 'member' }
  | { readonly step: 'leave'; readonly of: AgentName; readonly group: GroupName }
  | {
      readonly step: 'judge';
      readonly of: AgentName;
      readonly verdict: 'right' | 'wrong';
      readonly by: 'maker' | 'ann';
    }
  | { readonly step: 'emcon'; readonly group: GroupName; readonly on: boolean }
  | { readonly step: 'end'; readonly group: GroupName; readonly mode: 'archive' | 'delete' }
  | { readonly step: 'write'; readonly by: 'ben' | AgentName; readonly group: GroupName }
  /** An owner of a group who is nobody above the agent makes it a member. */
  | { readonly step: 'trap'; readonly of: AgentName }
  | { readonly step: 'return' }
  | { readonly step: 'review'; readonly decision: 'approve' | 'reject' }
  | { readonly step: 'wait'; readonly ms: number }
  | { readonly step: 'reopen' }
  | { readonly step: 'fail' | 'revive'; readonly cell: CellName };

/** How a step ended: it was done, or with which code it was refused. */
export type Ended = string;

/** A society that a law may have damaged. */
export type Damaged = (part: ReturnType<typeof society>) => ReturnType<typeof society>;

const HOUR_S = 3_600;

/** A world in which steps happen. */
export class Scene {
  readonly #store = memory();
  readonly #clock = new VirtualClock();
  readonly #keys = memoryVault();
  readonly #ids = new Map<string, string>();
  readonly #prompts: string[] = [];
  readonly #items = new Map<AgentName, string[]>();
  /** The group of each word. */
  readonly words = new Map<string, string>();
  #opened: { readonly world: AgentWorld; readonly office: Society } | undefined;

  private constructor(readonly damaged: Damaged) {}

  /** Opens a world with two people, two agents, one below the other, and two groups in which each has written. */
  static async open(damaged: Damaged = (part) => part): Promise<Scene> {
    const scene = new Scene(damaged);
    await scene.#open();
    const ann = await scene.#office.human('ann');
    await scene.#office.human('ben');
    await scene.#register(ann, 'boss');
    await scene.#register(scene.#entity('boss'), 'bot');
    for (const [group, owner] of [
      ['crew', 'ann'],
      ['club', 'ben'],
    ] as const) {
      const cell = scene.#office.group(group);
      await cell.open({ owner, ...(group === 'club' ? { culture: { broadcast_eagerness: 'moderate' } } : {}) });
      for (const person of ['ann', 'ben']) await cell.join(person, person === owner ? 'owner' : 'member');
      for (const name of AGENTS) await cell.join(scene.#id(name));
    }
    await scene.#desk('society/OpenGroup@1', { kind: 'group', culture: {} });
    for (let n = 0; n < ITEMS; n++) for (const name of AGENTS) await scene.#keep(name);
    return scene;
  }

  /** Makes a step. */
  async take(step: Step): Promise<Ended> {
    try {
      return await this.#take(step);
    } catch (error) {
      if (!isRepriseError(error)) throw error;
      return error.code === 'request_rejected' ? String(error.details.reason) : error.code;
    }
  }

  /** What both agents have, and what they are answered now. */
  async asked(): Promise<unknown> {
    const all: Record<string, unknown> = {};
    for (const name of AGENTS) {
      const id = this.#id(name);
      const answers = await this.#answers(name); // a group that could not be asked is asked by the first call
      const { kernel } = this.#world;
      const state = await this.#entity(name).state();
      const { status, suspended, tier, expires_at, grace_until, parent_active, orphaned } = state ?? {};
      const { effective } = await kernel.rights(`cell:society/Entity@1/${id}`);
      const tables = await Promise.all(
        ['memberships', 'terms'].map((table) => kernel.table(['society/Entity@1', id], table, {})),
      );
      all[name] = {
        ...{ status, suspended, tier, expires_at, grace_until, parent_active, orphaned, tables },
        rights: effective,
        answers,
      };
    }
    all.rows = (await this.#entity('ann').agents()).items.map(({ status }) => status);
    all.groups = await Promise.all(GROUPS.map((group) => this.#office.group(group).members()));
    return JSON.parse(this.#named(JSON.stringify(all)), sorted);
  }

  /** The words of items in the prompt of a run that begins now; a code where none does. */
  async shown(name: AgentName): Promise<readonly string[] | string> {
    this.#prompts.length = 0;
    const ended = await this.take({ step: 'run', of: name } as never);
    return ended === DONE ? [...new Set(this.#prompts.join(' ').match(/word[0-9]+x/g) ?? [])].sort() : ended;
  }

  /** Replays the whole world. */
  async verified(): Promise<number> {
    return (await this.#world.verify()).unverified;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#world[Symbol.asyncDispose]();
  }

  async #open(): Promise<void> {
    const part = failingGroups(this.damaged(failingSociety({ keys: this.#keys, grace: '2d' })));
    const model = scriptBy((request): ScriptStep => {
      this.#prompts.push(JSON.stringify(request));
      return { text: 'Done.' };
    });
    const world = await openWorld({
      ...{
        store: this.#store,
        clock: this.#clock,
        models: { main: model },
        agents: [WORKER],
        parts: [part, DESK],
        onError: () => {},
      },
    });
    this.#opened = { world, office: world.part(part) };
  }

  async #take(step: Step | { readonly step: 'run'; readonly of: AgentName }): Promise<Ended> {
    const office = this.#office;
    switch (step.step) {
      case 'tools':
        await this.#maker(step.of).capabilities(this.#id(step.of), { capabilities: { tools: step.tools as never } });
        return DONE;
      case 'reads': {
        const memory_read = { layers: ['l1', 'l2'], groups: ['*'], visibility: step.visibility };
        await this.#maker(step.of).capabilities(this.#id(step.of), { capabilities: { memory_read } as never });
        return DONE;
      }
      case 'floor':
        await this.#maker(step.of).capabilities(this.#id(step.of), { trustFloor: step.tier });
        return DONE;
      case 'status':
        await this.#entity('ann').setStatus(this.#id(step.of), step.to);
        return DONE;
      case 'role':
        return (await office.group(step.group).join(this.#id(step.of), step.role)) ? DONE : NOT_JOINED;
      case 'leave':
        await office.group(step.group).leave(this.#id(step.of));
        return DONE;
      case 'judge':
        return await this.#judge(step.of, step.verdict, step.by);
      case 'emcon':
        await office.group(step.group).emcon(step.on);
        return DONE;
      case 'end':
        await office.group(step.group).end(step.mode);
        return DONE;
      case 'write':
        return await this.#write(step.by, step.group);
      case 'trap':
        await this.#desk('society/Join@1', { entity: this.#id(step.of), role: 'member' });
        return DONE;
      case 'return':
        return await this.#return();
      case 'review':
        await this.#entity('boss').review(
          this.#id('bot'),
          step.decision === 'approve' ? { approve: 'all' } : { reject: true },
        );
        return DONE;
      case 'run':
        await (await this.#entity(step.of).send(WORKER, 'Go on.')).text();
        return DONE;
      case 'wait':
        await this.#clock.advance(step.ms);
        await this.#world.pump();
        return DONE;
      case 'reopen':
        await this.#world[Symbol.asyncDispose]();
        await this.#open();
        return DONE;
      case 'fail':
        return await this.#fail(step.cell);
      case 'revive':
        await this.#world.kernel.revive(this.#cell(step.cell));
        await this.#world.pump(); // what removed agents left is cleared
        return DONE;
    }
  }

  async #fail(name: CellName): Promise<Ended> {
    const [reducer, id] = this.#cell(name);
    if (reducer === GROUP) await this.#office.group(id).leave(FAIL);
    else await failEntity(this.#world, id);
    return DONE;
  }

  #cell(name: CellName): [string, string] {
    return name === 'crew' ? [GROUP, name] : ['society/Entity@1', this.#id(name)];
  }

  async #judge(of: AgentName, verdict: 'right' | 'wrong', by: 'maker' | 'ann'): Promise<Ended> {
    const judge = by === 'ann' ? this.#entity('ann') : this.#maker(of);
    for (const item of this.#items.get(of) ?? []) await judge.assess(item, { verdict, basis: 'outcome' } as never);
    return DONE;
  }

  async #keep(name: AgentName): Promise<void> {
    const { item_id } = await this.#entity(name).use('memory_write_warm', this.#item('crew'));
    this.#wrote('crew');
    this.#items.set(name, [...(this.#items.get(name) ?? []), item_id]);
  }

  async #write(by: 'ben' | AgentName, group: GroupName): Promise<Ended> {
    await this.#entity(by).use('memory_write_warm', this.#item(group));
    this.#wrote(group);
    return DONE;
  }

  async #desk(name: string, value: object): Promise<void> {
    const sent = { name: 'test/Send@1', value: { to: [GROUP, 'trap'], name, value } };
    await this.#world.kernel.request(['test/Desk@1', 'desk'], sent as never);
  }

  #item(group: string) {
    return { type: 'note', visibility: 'group', group, content: `Found ${this.#word}.` } as const;
  }

  /** The next word: one that was not written is used again. */
  get #word(): string {
    return `word${this.words.size + 1}x`;
  }

  #wrote(group: string): void {
    this.words.set(this.#word, group);
  }

  async #return(): Promise<Ended> {
    const place = { world: this.#world, office: this.#office, keys: this.#keys, clock: this.#clock };
    const items = [{ text: `Back ${this.#word}.` }];
    const { value, is_error } = await comeBack(place as never, this.#entity('boss'), this.#id('bot'), {
      items,
      sessions: 1,
    });
    if (is_error) return String(value.code ?? value.error);
    this.#wrote('crew');
    return DONE;
  }

  async #answers(name: AgentName): Promise<unknown> {
    const answers: unknown[] = [];
    for (const [tool, args] of ASKED) {
      try {
        const { value, is_error } = await this.#entity(name).answerTo(tool as never, args as never);
        const { items, code, error, detail } = value as { items?: readonly unknown[] } & Record<string, unknown>;
        answers.push([tool, is_error === true, code, error, detail, items?.length]);
      } catch (thrown) {
        answers.push([tool, isRepriseError(thrown) ? thrown.code : String(thrown)]);
      }
    }
    return answers;
  }

  async #register(maker: Entity, name: AgentName): Promise<void> {
    const capabilities = name === 'bot' ? { ttl_seconds: HOUR_S } : {};
    const agent = { agentType: 'custom', displayName: name, capabilities } as const;
    this.#ids.set(name, (await maker.register(agent)).agent_id);
  }

  #maker(name: AgentName): Entity {
    return this.#entity(name === 'boss' ? 'ann' : 'boss');
  }

  #entity(name: string): Entity {
    return this.#office.entity(this.#ids.get(name) ?? name);
  }

  #id(name: string): string {
    return this.#ids.get(name) ?? name;
  }

  #named(text: string): string {
    return [...this.#ids].reduce((all, [name, id]) => all.replaceAll(id, name), text);
  }

  get #world(): AgentWorld {
    if (this.#opened === undefined) throw new Error('the world is not open');
    return this.#opened.world;
  }

  get #office(): Society {
    if (this.#opened === undefined) throw new Error('the world is not open');
    return this.#opened.office;
  }
}

/** How a step ends that was made. */
export const DONE = 'done';
/** How a step ends whose agent did not join: also where its cell has failed. */
export const NOT_JOINED = 'not joined';
/** Four verdicts move a tier. */
const ITEMS = 4;
const WORKER = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

/** What an agent asks, to see what it may do. */
const ASKED = [
  ...GROUPS.map((group) => ['memory_read_warm', { group }] as const),
  ...GROUPS.map(
    (group) => ['memory_write_warm', { type: 'note', visibility: 'group', group, content: 'Asked.' }] as const,
  ),
  ['memory_write_warm', { type: 'note', visibility: 'private', content: 'Mine.' }],
  ['memory_search', { query: 'found' }],
  ['agent_list', {}],
] as const;

/** Ids are drawn, and names stand for them: lists of texts have no order that means something. */
function sorted(_: string, value: unknown): unknown {
  const isTexts = Array.isArray(value) && value.every((one) => typeof one === 'string');
  return isTexts ? [...value].sort() : value;
}

/** A part of the app with a cell that owns a group of its own. */
const DESK: WorldPart<undefined> = {
  name: 'desk',
  reducers: [desk],
  policy: [{ send: 'society/*', who: 'cell:test/Desk@1/*', decision: 'allow' }],
  handle: () => undefined,
};

const GROUP = 'society/Group@1';
const FAIL = 'test-fail';

/** Groups fail when an entity of this name is to leave: by an event of their own, as by a defect. */
function failingGroups(part: ReturnType<typeof society>): ReturnType<typeof society> {
  const failing = (one: ReducerDefinition): ReducerDefinition => ({
    ...one,
    reduce: (draft, event, ctx) => {
      const { entity } = event.value as { readonly entity?: unknown };
      if (event.name === 'society/Leave@1' && entity === FAIL)
        return ctx.send(ctx.address, { name: 'org/Rest@1', value: {} });
      if (event.name === 'org/Rest@1' && ctx.table('rest').size === 0) throw new Error('a defect of this law');
      return one.reduce(draft, event, ctx);
    },
  });
  const reducers = (part.reducers ?? []).map((one) => (one.name === GROUP ? failing(one) : one));
  return { ...part, reducers };
}
