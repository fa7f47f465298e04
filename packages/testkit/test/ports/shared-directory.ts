/** A directory in memory that hosts share, with one fault or none: each fault breaks one promise of the port. */
import { RepriseError } from '@reprise/contracts';
import {
  type ClaimedRow,
  divideLimit,
  type LimitParts,
  type LimitUse,
  memoryDirectory,
  type OpenDirectory,
  type SharedRows,
  type WorldRow,
} from '@reprise/kernel/host';
import type { DirectorySubject } from '@reprise/testkit/ports';

/** What a broken directory does otherwise. */
export type SharingFault =
  | 'a claim does not say open'
  | 'a claim has no row before'
  | 'a second claim gets in'
  | 'claims are in two steps'
  | 'set changes claimed rows'
  | 'remove removes claimed rows'
  | 'a living host is adopted'
  | 'a claim can be released twice'
  | 'a release forgets the wake'
  | 'a release removes nothing'
  | 'adoption has no bound'
  | 'nothing is adopted'
  | 'adopted rows are never due'
  | 'a dead host keeps its world'
  | 'claims outlive their lease'
  | 'a lease comes again'
  | 'unclaimed rows stay open'
  | 'a closed directory keeps its worlds'
  | 'there is no time between looks'
  | 'nobody is told of changes'
  | 'changes are told after the stop'
  | 'claims go on after the close'
  | 'parts ignore the others'
  | 'parts are taken from who holds them'
  | 'parts never change'
  | 'what is held needs no reservation'
  | 'a dead host keeps its part'
  | 'a dead host leaves its part at once'
  | 'limits are one';

interface Claim {
  readonly host: SharingDirectory;
  /** The lease of the host that made it. */
  readonly lease: number;
}

interface Place {
  readonly fault: SharingFault | undefined;
  readonly rows: OpenDirectory;
  readonly claims: Map<string, Claim>;
  readonly hosts: Set<SharingDirectory>;
  readonly reserved: Map<string, Map<SharingDirectory, Reservation>>;
}

interface Reservation {
  readonly lease: number;
  readonly count: number;
  readonly countsFor: number;
}

/** A subject with every ability, and one fault or none. */
export async function sharingSubject(fault?: SharingFault): Promise<DirectorySubject> {
  const place: Place = {
    fault,
    rows: await memoryDirectory().open(),
    claims: new Map(),
    hosts: new Set(),
    reserved: new Map(),
  };
  let first: SharingDirectory | undefined;
  return {
    directory: {
      label: 'sharing',
      open: async () => {
        const open = new SharingDirectory(place);
        first ??= open;
        return open;
      },
    },
    endLease: async () => {
      if (first !== undefined) first.lease++;
    },
  };
}

class SharingDirectory implements OpenDirectory {
  lease = 0;
  #closed = false;
  readonly #calls = new Set<() => void>();
  readonly shared: SharedRows;

  constructor(private readonly place: Place) {
    place.hosts.add(this);
    this.shared = {
      lookEvery: place.fault === 'there is no time between looks' ? 0 : 1_000,
      claim: (world) => this.#claim(world),
      adopt: (dueAt, limit) => this.#adopt(dueAt, limit),
      share: async (uses) => this.#share(uses),
      changed: (call) => {
        this.#calls.add(call);
        return () => void (place.fault !== 'changes are told after the stop' && this.#calls.delete(call));
      },
    };
  }

  get(world: string) {
    if (this.place.fault === 'a lease comes again' && this.lease > 0) this.lease--;
    return this.#rows().get(world);
  }

  async set(rows: readonly WorldRow[]): Promise<void> {
    const free = rows.filter(
      ({ world }) => this.place.fault === 'set changes claimed rows' || !this.place.claims.has(world),
    );
    await this.#rows().set(free);
    this.#tell();
  }

  async remove(world: string): Promise<void> {
    if (this.#rows() && (this.place.fault === 'remove removes claimed rows' || !this.place.claims.has(world)))
      await this.place.rows.remove(world);
  }

  async list(query: Parameters<OpenDirectory['list']>[0]) {
    return this.#rows().list(query);
  }

  async due(until: number, limit: number) {
    return this.#rows().due(until, limit);
  }

  async nextDue(after: number) {
    return this.#rows().nextDue(after);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.place.fault !== 'a closed directory keeps its worlds') this.lease++;
    this.place.hosts.delete(this);
  }

  async #claim(world: string): Promise<ClaimedRow> {
    const { fault, claims, rows } = this.place;
    if (fault !== 'claims go on after the close') this.#rows();
    const isFree = (): boolean => {
      const claim = claims.get(world);
      return claim === undefined || (fault !== 'a dead host keeps its world' && !isLiving(claim));
    };
    const wasFree = isFree();
    if (fault === 'claims are in two steps') await new Promise((resolve) => setImmediate(resolve));
    if (!wasFree && fault !== 'a second claim gets in') throw new RepriseError('world_locked', 'another host has it');
    const claim: Claim = { host: this, lease: this.lease };
    claims.set(world, claim);
    const before = await rows.get(world);
    await rows.set([{ world, nextWakeAt: before?.nextWakeAt ?? null, open: fault !== 'a claim does not say open' }]);
    const told = fault === 'a claim has no row before' ? undefined : before;
    return { before: told, release: (row) => this.#release(world, claim, row) };
  }

  async #release(world: string, claim: Claim, row: WorldRow | undefined): Promise<void> {
    const { fault, claims, rows } = this.place;
    const isOwn = claims.get(world) === claim;
    const isLate = fault === 'a claim can be released twice' && isLiving(claim);
    const isOver = fault === 'claims outlive their lease' && !isLiving(claim);
    if (!isOwn && !isLate && !isOver) return;
    claims.delete(world);
    if (row === undefined && fault === 'a release removes nothing')
      await rows.set([{ world, nextWakeAt: null, open: false }]);
    else if (row === undefined) await rows.remove(world);
    else await rows.set([fault === 'a release forgets the wake' ? { ...row, nextWakeAt: null } : row]);
    this.#tell();
  }

  async #adopt(dueAt: number, limit: number): Promise<number> {
    const { fault, claims } = this.place;
    const open = await this.#rows().list({ open: true, limit: 1_000 });
    const left = open.filter(({ world }) => {
      const claim = claims.get(world);
      if (claim === undefined) return fault !== 'unclaimed rows stay open';
      return fault === 'a living host is adopted' || !isLiving(claim);
    });
    const adopted = fault === 'nothing is adopted' ? [] : left.slice(0, fault === 'adoption has no bound' ? 99 : limit);
    for (const { world } of adopted) claims.delete(world);
    const nextWakeAt = fault === 'adopted rows are never due' ? null : dueAt;
    await this.place.rows.set(adopted.map(({ world }) => ({ world, nextWakeAt, open: false })));
    return adopted.length;
  }

  #share(uses: readonly LimitUse[]): LimitParts {
    this.#rows();
    const lease = this.lease;
    return { allowed: uses.map((use) => this.#partOf(use)), holds: () => this.lease === lease };
  }

  #partOf({ limit, max, held, countsFor }: LimitUse): number {
    const { fault, reserved } = this.place;
    const name = fault === 'limits are one' ? 'all' : limit;
    const all = reserved.get(name) ?? new Map<SharingDirectory, Reservation>();
    reserved.set(name, all);
    for (const [host, one] of all) {
      const lingers = one.countsFor > 0 && fault !== 'a dead host leaves its part at once';
      if (host.lease !== one.lease && !lingers && fault !== 'a dead host keeps its part') all.delete(host);
    }
    const before = all.get(this)?.count;
    if (before !== undefined && fault === 'parts never change') return before;
    const others = [...all].reduce((sum, [host, { count }]) => (host === this ? sum : sum + count), 0);
    const living = [...all].filter(([host, one]) => host.lease === one.lease).map(([host]) => host);
    const hosts = living.includes(this) ? living : [...living, this];
    const isTrusting = fault === 'what is held needs no reservation';
    const part = divideLimit({
      ...{ max, hosts: hosts.length, place: hosts.indexOf(this) },
      held: fault === 'parts are taken from who holds them' ? 0 : Math.min(held, isTrusting ? held : (before ?? 0)),
      others: fault === 'parts ignore the others' ? 0 : others,
    });
    all.set(this, { lease: this.lease, count: part.reserved, countsFor });
    return part.allowed;
  }

  #tell(): void {
    if (this.place.fault === 'nobody is told of changes') return;
    for (const host of this.place.hosts) if (host !== this) for (const call of host.#calls) call();
  }

  #rows(): OpenDirectory {
    if (!this.#closed) return this.place.rows;
    throw new RepriseError('world_closed', 'the directory was closed');
  }
}

function isLiving({ host, lease }: Claim): boolean {
  return host.lease === lease;
}
