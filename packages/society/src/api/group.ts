/** The handle of a group: the app opens groups and says who belongs to them. */
import type { AgentWorld } from '@reprise/agent';
import { type CultureIn, ENTITY, type GroupState, groupAt, type MemberRow, type Role } from '../pure/index.js';
import { ask, factOf, type SocietyBy } from './requests.js';

/** A group: its members, its emergency mode and its end. This object stores nothing. */
export class Group {
  constructor(
    private readonly world: AgentWorld,
    readonly id: string,
  ) {}

  /** The durable state; undefined for a group that does not exist. */
  async state(): Promise<GroupState | undefined> {
    return (await this.world.kernel.state(groupAt(this.id))) as unknown as GroupState | undefined;
  }

  /**
   * Opens the group, with its store. A group that is open stays as it is.
   *
   * @param options `owner` is the entity that commands it, besides the app; `culture` says how its members hear of news
   */
  async open({ owner, culture = {} }: { readonly owner?: string; readonly culture?: CultureIn } = {}): Promise<void> {
    const of = owner === undefined ? {} : { owner: [ENTITY, owner] };
    await ask(this.world.kernel, groupAt(this.id), 'society/OpenGroup@1', { kind: 'group', ...of, culture }, {});
  }

  /**
   * Adds an entity, or changes its role.
   *
   * @returns whether it is a member: an entity that is in as many groups as it may be refuses
   */
  async join(entity: string, role: Role = 'member', by: SocietyBy = {}): Promise<boolean> {
    const ack = await ask(this.world.kernel, groupAt(this.id), 'society/Join@1', { entity, role }, by);
    const fits = ({ entity_id }: { readonly entity_id: string }) => entity_id === entity;
    const { code } = await factOf<{ readonly entity_id: string; readonly code: string | null }>(
      this.world.kernel,
      groupAt(this.id),
      ack,
      { name: 'society/JoinAnswered@1', fits },
    );
    return code === null;
  }

  /** Removes a member: it no longer reads or writes the store, and hears nothing of it. */
  async leave(entity: string, by: SocietyBy = {}): Promise<void> {
    await ask(this.world.kernel, groupAt(this.id), 'society/Leave@1', { entity }, by);
  }

  /** Begins or ends emergency mode: writes are refused, reads go on. */
  async emcon(on: boolean, by: SocietyBy = {}): Promise<void> {
    await ask(this.world.kernel, groupAt(this.id), 'society/Emcon@1', { on }, by);
  }

  /** Ends the group: archived, its members still read; deleted, it has none. */
  async end(mode: 'archive' | 'delete', by: SocietyBy = {}): Promise<void> {
    await ask(this.world.kernel, groupAt(this.id), 'society/EndGroup@1', { mode }, by);
  }

  /** The members and their roles. */
  async members(): Promise<Readonly<Record<string, Role>>> {
    const { kernel } = this.world;
    const roles: Record<string, Role> = {};
    for (let page = await kernel.table(groupAt(this.id), 'members', {}); page.length > 0; ) {
      for (const [id, value] of page) {
        const { stands, role } = value as unknown as MemberRow;
        if (stands) roles[id] = role;
      }
      page = await kernel.table(groupAt(this.id), 'members', { after: page.at(-1)?.[0] ?? '' });
    }
    return roles;
  }
}
