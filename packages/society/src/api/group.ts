/** The handle of a group: the app opens groups and says who belongs to them. */

import type { AgentWorld } from '@reprise/agent';
import { anObject, aText, requireKnownOptions } from '@reprise/contracts';
import { command, factIn, type OrgCell } from '@reprise/org';
import {
  type CultureIn,
  ENTITY,
  type GroupState,
  groupAt,
  groupFacts,
  type groupTables,
  type Role,
} from '../pure/index.js';
import { type By, societyCell } from './requests.js';

/** A group: its members, its emergency mode and its end. This object stores nothing. */
export class Group {
  readonly #cell: OrgCell<GroupState, typeof groupTables>;

  constructor(
    world: AgentWorld,
    readonly id: string,
  ) {
    this.#cell = societyCell(world.kernel, groupAt(id));
  }

  /** The durable state; undefined for a group that does not exist. */
  state(): Promise<GroupState | undefined> {
    return this.#cell.state();
  }

  /**
   * Opens the group, with its store. A group that is open stays as it is.
   *
   * @param options `owner` is the entity that commands it, besides the app; `culture` says how its members hear of news
   */
  async open(options: { readonly owner?: string; readonly culture?: CultureIn } = {}): Promise<void> {
    requireKnownOptions(options, { owner: aText, culture: anObject }, 'group.open');
    const { owner, culture = {} } = options;
    const of = owner === undefined ? {} : { owner: [ENTITY, owner] };
    await command(this.#cell, 'society/OpenGroup@1', { kind: 'group', ...of, culture });
  }

  /**
   * Adds an entity, or changes its role.
   *
   * @returns whether it is a member: an entity that is in as many groups as it may be refuses
   */
  async join(entity: string, role: Role = 'member', by: By = {}): Promise<boolean> {
    return command(this.#cell, 'society/Join@1', { entity, role }, by, {
      in: (fact) => {
        const answered = factIn(fact, [groupFacts, 'society/JoinAnswered@1']);
        return answered?.entity_id === entity ? answered.code === null : undefined;
      },
    });
  }

  /** Removes a member: it no longer reads or writes the store, and hears nothing of it. */
  async leave(entity: string, by: By = {}): Promise<void> {
    await command(this.#cell, 'society/Leave@1', { entity }, by);
  }

  /** Begins or ends emergency mode: writes are refused, reads go on. */
  async emcon(on: boolean, by: By = {}): Promise<void> {
    await command(this.#cell, 'society/Emcon@1', { on }, by);
  }

  /** Ends the group: archived, its members still read; deleted, it has none. */
  async end(mode: 'archive' | 'delete', by: By = {}): Promise<void> {
    await command(this.#cell, 'society/EndGroup@1', { mode }, by);
  }

  /** The members and their roles. */
  async members(): Promise<Readonly<Record<string, Role>>> {
    const roles: Record<string, Role> = {};
    for await (const [id, { stands, role }] of this.#cell.each('members')) if (stands) roles[id] = role;
    return roles;
  }
}
