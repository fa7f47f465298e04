/**
 * Which organization a session belongs to, and who made what: from the tree of cells, which the kernel's view knows.
 *
 * Invariants
 * O1  Labels count only where a cell made the session: those of an app's own sessions are words of the app.
 */
import type { AgentWorld, Organization } from '@reprise/agent';
import { SESSION_REDUCER, type SessionState } from '@reprise/agent/contracts';
import { type Address, formatAddress, isRepriseError, type Principal, type Ref, type Value } from '@reprise/contracts';
import { linksOf } from '@reprise/kernel';
import { children } from '@reprise/kernel/views';

/** How far above a session its organization may stand. */
const LEVELS_MAX = 64;

/** How many makers of cells are remembered. */
const KNOWN_MAX = 1_000;

/** One organization: its kind, and its name. */
export interface Organized {
  readonly kind: Organization;
  readonly name: string;
}

/** The organizations of a world. */
export class Organizations {
  readonly kinds: ReadonlyMap<string, Organization>;
  /** Who made cells, by their frames and addresses: a stream asks for it at each of its frames. */
  readonly #behind = new Map<string, Principal>();
  readonly #byReducer: ReadonlyMap<string, Organization>;

  constructor(private readonly world: AgentWorld) {
    const all = world.organizations;
    this.kinds = new Map(all.map((one) => [one.kind, one]));
    this.#byReducer = new Map(all.map((one) => [one.reducer, one]));
  }

  /** The organization whose cell has an address; undefined for any other cell. */
  at([reducer, name]: Address): Organized | undefined {
    const kind = this.#byReducer.get(reducer);
    return kind === undefined ? undefined : { kind, name };
  }

  /** The names of all of one kind behind a name, in their order. */
  async *names({ reducer }: Organization, after?: string): AsyncGenerator<string> {
    const from = after === undefined ? {} : { from: [reducer, after] };
    for await (const { key } of (await this.#cells()).each({ under: [reducer], ...from })) {
      const [, name] = key as readonly [string, string];
      if (name !== after) yield name;
    }
  }

  /** The nearest organization above a session, or the one that its label names; undefined for one of no organization. */
  async of(session: string): Promise<Organized | undefined> {
    if (this.kinds.size === 0) return undefined;
    let cell: Address | null = [SESSION_REDUCER, session];
    for (let level = 0; cell !== null && level < LEVELS_MAX; level++) {
      const maker: Address | null = await this.makerOf(cell);
      if (maker === null) return undefined;
      const found = this.at(maker) ?? (await this.#labelled(cell, maker)); // O1
      if (found !== undefined) return found;
      cell = maker;
    }
    return undefined;
  }

  /** The cell that made a cell; null for one that a request from outside has made, and for one that is not there. */
  async makerOf(cell: Address): Promise<Address | null> {
    const row = await (await this.#cells()).get([...cell]);
    return row?.parent == null ? null : [...row.parent];
  }

  /** The principal of the request that made a cell; undefined for one that something else has made. */
  async principalBehind(cell: Address): Promise<Principal | undefined> {
    const row = await (await this.#cells()).get([...cell]);
    if (row === undefined || row.parent !== null) return undefined;
    const key = `${row.seq} ${formatAddress(cell)}`; // a later generation of the cell was made in another frame
    const known = this.#behind.get(key);
    if (known !== undefined) return known;
    const found = await this.#principalIn(row.seq, cell);
    if (found !== undefined) this.#behind.set(key, found);
    const [oldest] = this.#behind.keys();
    if (this.#behind.size > KNOWN_MAX && oldest !== undefined) this.#behind.delete(oldest);
    return found;
  }

  async #principalIn(frame: number, cell: Address): Promise<Principal | undefined> {
    for await (const { records } of this.world.kernel.frames(frame)) {
      const [ingress] = records;
      const isMeant = ingress?.kind === 'request' && formatAddress(ingress.to) === formatAddress(cell);
      return isMeant ? (ingress.principal as Principal) : undefined;
    }
    return undefined;
  }

  /** Whether an organization links content: in its state, or in an entry of one of its tables that its readers are shown. */
  async links({ kind, name }: Organized, link: Ref): Promise<boolean> {
    const { kernel } = this.world;
    const cell: Address = [kind.reducer, name];
    const has = (value: Value) => linksOf(value).some(({ hex }) => hex === link.hex);
    const state = await kernel.state(cell);
    if (state !== undefined && has(state)) return true;
    for (const table of kind.linkedFrom)
      for (let page = await kernel.table(cell, table); page.length > 0; ) {
        if (page.some(([, value]) => has(value))) return true;
        page = await kernel.table(cell, table, { after: page.at(-1)?.[0] ?? '' });
      }
    return false;
  }

  /** Content; undefined when it was erased, or the store does not hold it. */
  async contentAt(link: Ref): Promise<Uint8Array | undefined> {
    try {
      return await this.world.kernel.content.get(link);
    } catch (error) {
      if (isRepriseError(error, 'blob_erased') || isRepriseError(error, 'blob_missing')) return undefined;
      throw error;
    }
  }

  async #cells() {
    return (await this.world.views()).view(children);
  }

  async #labelled([reducer, key]: Address, maker: Address): Promise<Organized | undefined> {
    if (reducer !== SESSION_REDUCER || maker[0] === SESSION_REDUCER) return undefined;
    const state = (await this.world.kernel.state([reducer, key])) as SessionState | undefined;
    for (const kind of this.kinds.values()) {
      const name = state?.labels[kind.kind];
      if (name !== undefined) return { kind, name };
    }
    return undefined;
  }
}
