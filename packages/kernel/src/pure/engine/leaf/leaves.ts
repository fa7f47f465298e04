/** The shapes of leaves, and the view of them that a fold writes to. */
import type {
  Address,
  Amounts,
  Capability,
  EventEnvelope,
  FaultCode,
  ForkMode,
  Guarantee,
  PlanAddress,
  PolicyRule,
  Principal,
  Receipt,
  ReceiptStatus,
  Ref,
  Reserved,
  Sender,
  Value,
} from '@reprise/contracts';
import { decode } from '../../codec/index.js';
import type { PlanWait, Resumed } from '../../define/index.js';
import type { LeafKey } from './leaf-key.js';
import { Miss } from './signals.js';
import type { TableHead } from './table-tree.js';

/** The world's identity and rules. */
export interface WorldLeaf {
  readonly world: string;
  readonly seed: string;
  readonly semantics: number;
  readonly policy: readonly PolicyRule[];
  /** Rights or accounts were set: from then on every effect and event is checked against them. */
  readonly governed?: true;
  /** The capability of the root of all authority; everything when absent. */
  readonly root?: Capability;
  /** The original and the cut of a fork; absent for a world that is not a fork. */
  readonly fork?: ForkLeaf;
}

/** The original of a fork, and whether the fork is live or dry. */
export interface ForkLeaf {
  readonly from: { readonly world: string; readonly seq: number; readonly head: string };
  readonly mode: ForkMode;
  /** The worlds whose recorded receipts answer its effects. */
  readonly origins: readonly string[];
  /** The recorded receipts. */
  readonly recorded: Ref | null;
}

/** The rights of a holder on both sides, and its account. */
export interface RightsLeaf {
  /** The exercise side: what it may do; null when not narrowed. */
  exercise: Capability | null;
  /** The grant side: what it may hand on, which can be more; null: the same. */
  grant: Capability | null;
  /** The account that its effects are charged to; null: its parent's. */
  account: string | null;
  /** The kinds with a remembered approval, and their expiry. */
  approved: (readonly [string, number | null])[];
  /** The generation of the cell that the approvals belong to; absent for the first. */
  inc?: number;
  /** Counts the changes. */
  revision: number;
}

/** A cell. A cell that ended leaves `{inc}` behind, so that its next generation has new identities. */
export interface CellLeaf {
  inc: number;
  /** False once the cell has ended. */
  live: boolean;
  /** Deliveries so far: seeds identifiers and random. */
  n: number;
  /** The next plan ordinal. */
  ord: number;
  failed: FaultCode | null;
  parent: Address | null;
  /** The generation of the parent that made it; absent for the first. Rights of a later one do not apply. */
  pinc?: number;
  /** The ordinals of its running plans. */
  plans: number[];
  /** Its timers: name → due. */
  timers: Record<string, number>;
  /** The logs it has written to. */
  logs: string[];
  /** The heads of its tables, by name; absent while it has written to none. */
  tables?: Record<string, TableHead>;
  /** The definition that wrote it last; absent when the address names it. */
  v?: string;
  state: Record<string, Value>;
}

/** A plan instance: its input and the results of its awaits. A running generator is only a cache of this. */
export interface PlanLeaf {
  readonly name: string;
  readonly inc: number;
  readonly input: Value;
  /** When the first segment ran; null until then. */
  started: number | null;
  /** It was stopped before its first segment: effects of that segment are cancelled at once. */
  stopped?: true;
  resumptions: { readonly at: number; readonly value: Resumed }[];
  wait: PlanWait | null;
  /** Receipts that arrived before they were awaited, in order of arrival. */
  inbox: (readonly [number, Receipt])[];
  emissions: number;
  /** Effects without a receipt: emission and id. */
  open: (readonly [number, string])[];
}

/** An open effect. */
export interface EffectLeaf {
  readonly plan: PlanAddress;
  /** The generation of the cell that emitted it; absent for the first. */
  readonly inc?: number;
  readonly emission: number;
  readonly name: string;
  readonly params: Value;
  readonly guarantee: Guarantee;
  readonly deadline: number | null;
  /** Where it was emitted, `[seq, index]`: the order of dispatch. */
  readonly queued: EmissionPlace;
  /** The armed attempt; 0 while it waits. */
  attempt: number;
  /** The amounts reserved for it. */
  reserved?: Reserved;
  /** It waits for approval: the approvers, and how long it may run once it starts. */
  approval?: { readonly to: string; readonly timeoutMs: number | null };
  /** It is deferred: its expiry, and the principals besides the operator that may settle it. */
  deferred?: { readonly expires: number | null; readonly to: string | null };
  /** It waited for approval and got it. */
  approved?: true;
  /** The cell that settles it; no adapter does. */
  settler?: Address;
  /** What its adapter asked, by the question's ordinal. */
  asks?: AskedQuestion[];
  /** It was told to stop while it was armed: it is not offered again, not even after a crash. Settled at `until`. */
  cancelled?: { readonly until: number };
  /** It is settled, and the armed attempt may still answer: that changes only the spent amounts. */
  late?: { readonly status: ReceiptStatus } & Partial<Booked>;
  /** When its kernel timer fires. */
  wake?: number;
  /** In a dry fork: the ids that this effect would have in the worlds whose receipts are recorded. */
  readonly origins?: readonly string[];
}

/** The amounts that a settlement booked, and where: a later report corrects them. */
export interface Booked {
  readonly account: string;
  readonly booked: Amounts;
}

/** The remains of an effect that waited for input from outside: a late settlement gets an answer. */
export interface SettledLeaf {
  readonly name: string;
  readonly status: ReceiptStatus;
  readonly at: number;
  /** The principals that might have settled it, besides the operator. */
  readonly to: string | null;
  /** The cell that was to settle it. */
  readonly settler?: Address;
  /** Its assumed usage, until it is reported. */
  readonly owed?: Booked;
}

/** A question of a running adapter, and its answer. */
export interface AskedQuestion {
  readonly n: number;
  readonly question: Value;
  readonly at: number;
  readonly expires: number | null;
  readonly to: string | null;
  answer?: Answer;
}

/** How a question ended. */
type Answer = { readonly by: Principal; readonly value: Value } | { readonly expired: true };

/** A log: how many items, the links of sealed chunks by level, and the items not sealed yet. */
export interface LogLeaf {
  count: number;
  levels: Ref[][];
  tail: Value[];
}

/** A delivery that waits for the next `continue` frame. */
export type PendingDelivery =
  | {
      readonly kind: 'event';
      readonly to: Address;
      readonly event: EventEnvelope;
      readonly from: Sender;
      readonly reply: boolean;
      readonly notice: boolean;
      readonly making?: true;
      readonly aftermath?: true;
    }
  | { readonly kind: 'plan'; readonly plan: PlanAddress }
  | ({ readonly kind: 'sweep' } & TableRest);

/** The remains of a table whose cell has ended: these nodes and all below them. */
export interface TableRest {
  readonly cell: Address;
  readonly table: string;
  readonly inc: number;
  readonly nodes: readonly number[];
}

/** The chunks of a backlog, and how many deliveries they hold. */
export interface KeptBacklog {
  readonly first: number;
  readonly end: number;
  readonly count: number;
}

/** A chunk of deliveries. */
export interface PendingChunk {
  readonly deliveries: readonly PendingDelivery[];
}

/** The work that an ingress left for a `continue` frame. The deliveries are in chunks of their own. */
export interface PendingLeaf {
  /** The frame of the ingress. */
  readonly began: number;
  /** Deliveries of the cascade under way so far. */
  readonly done: number;
  /** Bytes of values given in it so far. */
  readonly bytes: number;
  /** It began by reporting a cell that failed by the length of an earlier cascade of this ingress. */
  readonly aftermath?: true;
  /** The rest of the current cascade. */
  readonly cascade: KeptBacklog;
  /** Deliveries that begin cascades of their own, after the current one. */
  readonly roots: KeptBacklog;
  /** Rights were narrowed: the open effects after this place must still be checked. */
  readonly ending?: EmissionPlace;
}

/** Where an effect was emitted, `[seq, index]`. */
export type EmissionPlace = readonly [number, number];

/** Reads leaves by key. A reader that does not hold all of them throws `Miss` for one it must load first. */
export interface LeafReader {
  get(key: LeafKey): Uint8Array | undefined;
  /** The leaves of a kind that is never loaded on demand, in no particular order. */
  list(kind: 'effect'): Iterable<{ readonly key: LeafKey; readonly bytes: Uint8Array }>;
}

/** A leaf that a fold changed. */
export interface LeafChange {
  readonly key: LeafKey;
  readonly before: Uint8Array | undefined;
  /** The new bytes; undefined when the leaf is gone. */
  readonly after: Uint8Array | undefined;
}

/** The leaves as a fold sees them: its own changes over what it was given. */
export class Overlay implements LeafReader {
  readonly #changes = new Map<
    string,
    { key: LeafKey; before: Uint8Array | undefined; after: Uint8Array | undefined }
  >();

  #missed: Miss | undefined;

  constructor(private readonly base: LeafReader) {}

  /** @param ahead keys that are likely to be read next: when this one must be loaded, they are as well */
  get(key: LeafKey, ahead?: readonly LeafKey[]): Uint8Array | undefined {
    const change = this.#changes.get(key.id);
    return change === undefined ? this.#below(key, ahead) : change.after;
  }

  /** A miss while authors' code ran: that code may have caught it and continued without the leaf. */
  get missed(): Miss | undefined {
    return this.#missed;
  }

  /** Replaces a leaf; undefined removes it. */
  set(key: LeafKey, after: Uint8Array | undefined): void {
    const change = this.#changes.get(key.id);
    if (change === undefined) this.#changes.set(key.id, { key, before: this.#below(key), after });
    else change.after = after;
  }

  list(kind: 'effect'): readonly { readonly key: LeafKey; readonly bytes: Uint8Array }[] {
    const below = [...this.base.list(kind)].filter(({ key }) => !this.#changes.has(key.id));
    const changed = [...this.#changes.values()].flatMap(({ key, after }) =>
      key.path[0] === kind && after !== undefined ? [{ key, bytes: after }] : [],
    );
    return [...below, ...changed];
  }

  /** Writes a leaf that is known to be new: nothing has to be loaded to find that out. */
  add(key: LeafKey, after: Uint8Array): void {
    const change = this.#changes.get(key.id);
    if (change === undefined) this.#changes.set(key.id, { key, before: undefined, after });
    else change.after = after;
  }

  #below(key: LeafKey, ahead: readonly LeafKey[] = []): Uint8Array | undefined {
    try {
      return this.base.get(key);
    } catch (thrown) {
      if (!(thrown instanceof Miss)) throw thrown;
      this.#missed ??= new Miss(thrown.key, [...thrown.next, ...ahead]);
      throw this.#missed;
    }
  }

  /** What changed, in the order of first touch. */
  changes(): LeafChange[] {
    return [...this.#changes.values()];
  }
}

/** How many leaves stay decoded, and how many bytes they may have together: memory must not grow with a world. */
const DECODED_MAX = 1_024;
const DECODED_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Objects decoded from leaf bytes, taken at most once. The taker owns the object and may write it, so an abandoned
 * fold leaves nothing dirty behind: the next one decodes the bytes. The oldest make room for new ones.
 */
export class DecodedCache {
  readonly #objects = new Map<Uint8Array, unknown>();
  #bytes = 0;

  /** The object of these bytes, as the caller's own. */
  take<T>(bytes: Uint8Array): T {
    const cached = this.#objects.get(bytes);
    if (cached === undefined) return decode(bytes) as T;
    this.#drop(bytes);
    return cached as T;
  }

  /** Offers an object that is exactly what decoding the bytes would give. */
  offer(bytes: Uint8Array, object: unknown): void {
    this.#drop(bytes);
    this.#objects.set(bytes, object);
    this.#bytes += bytes.length;
    for (const oldest of this.#objects.keys()) {
      if (this.#objects.size <= DECODED_MAX && this.#bytes <= DECODED_BYTES_MAX) return;
      this.#drop(oldest);
    }
  }

  #drop(bytes: Uint8Array): void {
    if (this.#objects.delete(bytes)) this.#bytes -= bytes.length;
  }
}
