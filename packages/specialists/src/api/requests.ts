/** What an app asks of a project: commands, and what became of them. */
import {
  type Address,
  type JournalRecord,
  type Principal,
  present,
  REQUEST_ID_MAX,
  type Value,
} from '@reprise/contracts';
import { type Ack, encode, portableSha256, recordsOf, toHex, type World } from '@reprise/kernel';
import { PROJECT, type ProjectFact, type ProjectFactName, type ProjectState } from '../pure/index.js';

/** Who asks, and under which id: a repetition with one id is one act. */
export interface ProjectBy {
  readonly id?: string;
  readonly as?: Principal;
}

/** The requests of one project, and what it states. */
export class ProjectRequests {
  readonly address: Address;

  constructor(
    private readonly world: World,
    readonly id: string,
  ) {
    this.address = [PROJECT, id];
  }

  /** Sends an event. @throws RepriseError `request_rejected` with the project's refusal as its reason */
  send(name: string, value: object, { id, as }: ProjectBy): Promise<Ack> {
    const options = present({ id: id === undefined ? undefined : requestId(this.id, name, id), as });
    return this.world.request(this.address, { name, value: value as Value }, options);
  }

  /** The state; undefined for a project that nothing has opened. */
  async state(): Promise<ProjectState | undefined> {
    return (await this.world.state(this.address)) as unknown as ProjectState | undefined;
  }

  /** All entries of a table, page by page. */
  async *each(table: string, from?: string): AsyncGenerator<readonly [string, Value]> {
    if ((await this.state()) === undefined) return;
    let page = await this.world.table(this.address, table, present({ from }));
    while (page.length > 0) {
      yield* page;
      page = await this.world.table(this.address, table, { after: page.at(-1)?.[0] ?? '' });
    }
  }

  /** One entry of a table. */
  async entry(table: string, at: string): Promise<Value | undefined> {
    if ((await this.state()) === undefined) return undefined;
    const [first] = await this.world.table(this.address, table, { from: at, limit: 1 });
    return first?.[0] === at ? first[1] : undefined;
  }

  /**
   * The first fact of a name that fits, from the frame of a request on.
   *
   * @throws what closed the world, when it closes before
   */
  async fact<N extends ProjectFactName>(
    ack: Ack,
    name: N,
    fits: (fact: ProjectFact<N>) => boolean,
  ): Promise<ProjectFact<N>> {
    const own = recordsOf(ack);
    const at = own === undefined ? undefined : this.#factIn(own, name, fits);
    if (at !== undefined) return at;
    for await (const { records } of this.world.frames(ack.seq)) {
      const found = this.#factIn(records, name, fits);
      if (found !== undefined) return found;
    }
    throw this.world.closedBy ?? new Error('the world was closed');
  }

  #factIn<N extends ProjectFactName>(
    records: readonly JournalRecord[],
    name: N,
    fits: (fact: ProjectFact<N>) => boolean,
  ): ProjectFact<N> | undefined {
    for (const record of records) {
      if (record.kind !== 'fact' || record.name !== name || record.from === null) continue;
      if (record.from[0] !== PROJECT || record.from[1] !== this.id) continue;
      const value = record.value as unknown as ProjectFact<N>;
      if (fits(value)) return value;
    }
    return undefined;
  }
}

/** The id of a request to a project: no session's request has one like it. A long one is a digest. */
function requestId(project: string, name: string, id: string): string {
  const whole = `///team/${project}/${name}/${id}`;
  return whole.length <= REQUEST_ID_MAX ? whole : toHex(portableSha256(encode(['team', project, name, id])));
}
