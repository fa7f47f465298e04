/** The handle of a group: the app opens groups and says who belongs to them. */
import type { AgentWorld, PartCell } from '@reprise/agent';
import { type CultureIn, ENTITY, type GroupState, groupAt, type MemberRow, type Role } from '../pure/index.js';
import { type SocietyBy, societyCell } from './requests.js';

interface JoinAnswered {
  readonly entity_id: string;
  readonly code: string | null;
}

/** A group: its members, its emergency mode and its end. This object stores nothing. */
export class Group {
  readonly #cell: PartCell;

  constructor(
    world: AgentWorld,
    readonly id: string,
  ) {
    this.#cell = societyCell(world.kernel, groupAt(id));
  }

  /** The durable state; undefined for a group that does not exist. */
  state(): Promise<GroupState | undefined> {
    return this.#cell.state<GroupState>();
  }

  /**
   * Opens the group, with its store. A group that is open stays as it is.
   *
   * @param options `owner` is the entity that commands it, besides the app; `culture` says how its members hear of news
   */
  async open({ owner, culture = {} }: { readonly owner?: string; readonly culture?: CultureIn } = {}): Promise<void> {
    const of = owner === undefined ? {} : { owner: [ENTITY, owner] };
    await this.#cell.send('society/OpenGroup@1', { kind: 'group', ...of, culture }, {});
  }

  /**
   * Adds an entity, or changes its role.
   *
   * @returns whether it is a member: an entity that is in as many groups as it may be refuses
   */
  async join(entity: string, role: Role = 'member', by: SocietyBy = {}): Promise<boolean> {
    const ack = await this.#cell.send('society/Join@1', { entity, role }, by);
    const fits = ({ entity_id }: JoinAnswered) => entity_id === entity;
    const { code } = await this.#cell.fact<JoinAnswered>(ack, 'society/JoinAnswered@1', fits);
    return code === null;
  }

  /** Removes a member: it no longer reads or writes the store, and hears nothing of it. */
  async leave(entity: string, by: SocietyBy = {}): Promise<void> {
    await this.#cell.send('society/Leave@1', { entity }, by);
  }

  /** Begins or ends emergency mode: writes are refused, reads go on. */
  async emcon(on: boolean, by: SocietyBy = {}): Promise<void> {
    await this.#cell.send('society/Emcon@1', { on }, by);
  }

  /** Ends the group: archived, its members still read; deleted, it has none. */
  async end(mode: 'archive' | 'delete', by: SocietyBy = {}): Promise<void> {
    await this.#cell.send('society/EndGroup@1', { mode }, by);
  }

  /** The members and their roles. */
  async members(): Promise<Readonly<Record<string, Role>>> {
    const roles: Record<string, Role> = {};
    for await (const [id, value] of this.#cell.each('members')) {
      const { stands, role } = value as unknown as MemberRow;
      if (stands) roles[id] = role;
    }
    return roles;
  }
}
