/** The shapes of leaves, and the view of them that a fold writes to. */
import type {
  Account,
  Actor,
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
import type { PlanWait, Resumed } from '../../define/index.js';
import type { LeafKey } from './leaf-key.js';
import { Miss } from './signals.js';
import type { TableNode } from './table-node.js';
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
  /** The link to the recorded receipts of the origins; null without any. */
  readonly recorded: Ref | null;
}

/** The rights of a holder on both sides, and its account. */
export interface RightsLeaf {
  /** The exercise side: what it may do; null when not narrowed. */
  readonly exercise: Capability | null;
  /** The grant side: what it may hand on, which can be more; null: the same. */
  readonly grant: Capability | null;
  /** The account that its effects are charged to; null: its parent's. */
  readonly account: string | null;
  /** The kinds with a remembered approval, and their expiry. */
  readonly approved: readonly (readonly [string, number | null])[];
  /** What cells above it and the operator hold it to, by granter, in the order of their names; absent without any. */
  readonly holds?: readonly Hold[];
  /** The sides that reach strangers by naming `send` (see `gate/reach.ts`); absent for none. */
  readonly reach?: readonly RightsSide[];
  /** The generation of the cell that the approvals and the reach belong to; absent for the first. */
  readonly inc?: number;
  /** The number of changes so far. */
  readonly revision: number;
}

/** What a holder may do itself (`exercise`), or hand on (`grant`). */
export type RightsSide = 'exercise' | 'grant';

/** A hold: the granter, the capability that both sides of the holder are met with, and the generation of the granter. */
export type Hold = readonly [granter: Principal, capability: Capability, inc: number];

/** The state of a cell: what its reducer keeps. */
export type CellState = Readonly<Record<string, Value>>;

/** A cell. A cell that ended leaves `{inc}` behind, so that its next generation has new identities. */
export interface CellLeaf {
  readonly inc: number;
  /** False once the cell has ended. */
  readonly live: boolean;
  /** Deliveries so far: seeds identifiers and random. */
  readonly n: number;
  /** The ordinal that the next plan of the cell gets. */
  readonly ord: number;
  readonly failed: FaultCode | null;
  readonly parent: Address | null;
  /** The generation of the parent that made it; absent for the first. Rights of a later one do not apply. */
  readonly pinc?: number;
  /** The ordinals of its running plans. */
  readonly plans: readonly number[];
  /** Its timers: name → due. */
  readonly timers: Readonly<Record<string, number>>;
  /** The logs it has written to. */
  readonly logs: readonly string[];
  /** The heads of its tables, by name; absent while it has written to none. */
  readonly tables?: Readonly<Record<string, Readonly<TableHead>>>;
  /** How many of its events are open, so that it hears of the failure of their receivers; absent for none. */
  readonly asks?: number;
  /** The definition that wrote it last; absent when the address names it. */
  readonly v?: string;
  readonly state: CellState;
}

/** The fault of a failed cell, and where it stands in the journal. */
export interface FailedLeaf {
  readonly code: FaultCode;
  /** The frame of the fault, and its time. */
  readonly seq: number;
  readonly at: number;
  /** The event that the cell failed on. */
  readonly event: string;
  /** How many answers were awaited from it then: those who waited were told. */
  readonly waiting: number;
}

/** An event that its receiver took, and whose sender hears when the receiver fails or ends. */
export interface AskedLeaf {
  readonly to: Address;
  readonly from: Address;
  readonly event: string;
  /** The sender's name for the question. */
  readonly tag: string;
}

/** A plan instance: its input and the results of its awaits. A running generator is only a cache of this. */
export interface PlanLeaf {
  readonly name: string;
  readonly inc: number;
  readonly input: Value;
  /** When the first segment ran; null until then. */
  readonly started: number | null;
  /** It was stopped before its first segment: effects of that segment are cancelled at once. */
  readonly stopped?: true;
  readonly resumptions: readonly { readonly at: number; readonly value: Resumed }[];
  readonly wait: PlanWait | null;
  /** Receipts that arrived before they were awaited, in order of arrival. */
  readonly inbox: readonly (readonly [number, Receipt])[];
  readonly emissions: number;
  /** Effects without a receipt: emission and id. */
  readonly open: readonly (readonly [number, string])[];
}

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
  readonly attempt: number;
  /** The amounts reserved for it. */
  readonly reserved?: Reserved;
  /** It waits for approval: the approvers, and how long it may run once it starts. */
  readonly approval?: { readonly to: string; readonly timeoutMs: number | null };
  /** It is deferred: its expiry, and the principals besides the operator that may settle it. */
  readonly deferred?: { readonly expires: number | null; readonly to: string | null };
  /** It waited for approval and got it: who approved it, and who else might have decided. */
  readonly approved?: DecidedBy & { readonly to: string | null };
  /** The cell that settles it; no adapter does. */
  readonly settler?: Address;
  /** What its adapter asked, by the question's ordinal. */
  readonly asks?: readonly AskedQuestion[];
  /** It was told to stop while it was armed: it is not offered again, not even after a crash. Settled at `until`. */
  readonly cancelled?: { readonly until: number };
  /** It is settled, and the armed attempt may still answer: that changes only the spent amounts. */
  readonly late?: { readonly status: ReceiptStatus } & Partial<Booked>;
  /** When its kernel timer fires. */
  readonly wake?: number;
  /** In a dry fork: the ids that this effect would have in the worlds whose receipts are recorded. */
  readonly origins?: readonly string[];
}

/** The amounts that a settlement booked, and where: a later report corrects them. */
export interface Booked {
  readonly account: string;
  readonly booked: Amounts;
}

/** Who decided: the principal whose rights counted, and the actor where the command stated it. */
export interface DecidedBy {
  readonly by: Principal;
  readonly actor?: Actor;
}

/** The remains of an effect that waited for input from outside: a late decision is answered with who was first. */
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
  /** Who approved it, where it needed an approval. */
  readonly approved?: DecidedBy;
  /** Who settled it: denied it, answered it, reported its outcome or cancelled it. Absent when its time ran out. */
  readonly decided?: DecidedBy;
  /** Its adapter asked questions, and it waited for nothing else: it is not settled from outside. */
  readonly asked?: true;
  /** Who answered which question of its adapter. */
  readonly answers?: readonly AnsweredBy[];
}

/** Who answered a question of an effect, and who else might have. */
interface AnsweredBy extends DecidedBy {
  readonly n: number;
  readonly to: string | null;
}

/** A question of a running adapter, and its answer. */
export interface AskedQuestion {
  readonly n: number;
  readonly question: Value;
  readonly at: number;
  readonly expires: number | null;
  readonly to: string | null;
  readonly answer?: Answer;
}

type Answer = (DecidedBy & { readonly value: Value }) | { readonly expired: true };

/** A log: how many items, the links of sealed chunks by level, and the items not sealed yet. */
export interface LogLeaf {
  readonly count: number;
  readonly levels: readonly (readonly Ref[])[];
  readonly tail: readonly Value[];
  /** The last head that was linked since the newest chunk was sealed, and how many items of the tail it reaches. */
  readonly head?: { readonly ref: Ref; readonly items: number };
}

/**
 * A log's head as content: all items up to `count`. It holds those behind the head before it, or, as the first since a
 * chunk was sealed, the links of the sealed chunks.
 */
export type LogHead =
  | { readonly count: number; readonly levels: LogLeaf['levels']; readonly tail: readonly Value[] }
  | { readonly count: number; readonly before: Ref; readonly tail: readonly Value[] };

/** A timer; all else about it is in its key. */
export interface TimerLeaf {
  readonly due: number;
}

/** A delivery that waits for the next `continue` frame. */
export type PendingDelivery =
  | {
      readonly kind: 'event';
      readonly to: Address;
      readonly event: EventEnvelope;
      readonly from: Sender;
      readonly reply: boolean;
      readonly quiet?: true;
      readonly tag?: string;
      readonly failure?: string;
      /** What it counts for while it waits; absent for a notice of the kernel. */
      readonly bytes?: number;
      readonly notice: boolean;
      readonly making?: true;
      readonly aftermath?: true;
    }
  | { readonly kind: 'plan'; readonly plan: PlanAddress; readonly bytes?: number }
  | ({ readonly kind: 'sweep' } & TableRest);

/** The remains of a table whose cell has ended: these nodes and all below them. */
export interface TableRest {
  readonly cell: Address;
  readonly table: string;
  readonly inc: number;
  readonly nodes: readonly number[];
}

/** The chunks of a backlog, how many deliveries they hold, and the bytes of their values. */
export interface KeptBacklog {
  readonly first: number;
  readonly end: number;
  readonly count: number;
  readonly bytes: number;
}

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

/** What a leaf of each kind holds. */
export interface LeafOf {
  account: Account;
  asked: AskedLeaf;
  cell: CellLeaf;
  effect: EffectLeaf;
  failed: FailedLeaf;
  log: LogLeaf;
  pending: PendingLeaf | PendingChunk;
  plan: PlanLeaf;
  rights: RightsLeaf;
  settled: SettledLeaf;
  table: TableNode;
  timer: TimerLeaf;
  world: WorldLeaf;
}

/**
 * Reads leaves by key. A reader that does not hold all of them throws `Miss` for one it must load first.
 *
 * A leaf is a value that nothing writes into: a change makes another one, which may share parts with it.
 */
export interface LeafReader {
  get<L>(key: LeafKey<L>): L | undefined;
  /** The leaves of a kind that is never loaded on demand, in no particular order. */
  list<K extends ListedKind>(kind: K): Iterable<KeyedLeaf<LeafOf[K]>>;
  /** At least those of them that name a cell (see {@link namedIn}): a world finds them without reading the others. */
  naming<K extends ListedKind>(kind: K, cell: Address): Iterable<KeyedLeaf<LeafOf[K]>>;
}

/** The kinds of leaves that a fold lists. */
export type ListedKind = 'asked' | 'effect';

/** The cells that a leaf names: both sides of a question, and the cell that settles an effect; of other kinds none. */
export function namedIn({ path: [kind] }: LeafKey, leaf: unknown): readonly Address[] {
  if (kind === 'asked') return [(leaf as AskedLeaf).to, (leaf as AskedLeaf).from];
  if (kind !== 'effect') return [];
  const { settler } = leaf as EffectLeaf;
  return settler === undefined ? [] : [settler];
}

/** A leaf and its key. */
export interface KeyedLeaf<L = unknown> {
  readonly key: LeafKey;
  readonly leaf: L;
}

/** A leaf that a fold changed. */
export interface LeafChange {
  readonly key: LeafKey;
  readonly before: unknown;
  /** The new leaf; undefined when it is gone. */
  readonly after: unknown;
}

/** The leaves as a fold sees them: its own changes over what it was given. */
export class Overlay implements LeafReader {
  readonly #changes = new Map<string, { key: LeafKey; before: unknown; after: unknown }>();

  #missed: Miss | undefined;

  constructor(private readonly base: LeafReader) {}

  /** @param ahead keys that are likely to be read next: when this one must be loaded, they are as well */
  get<L>(key: LeafKey<L>, ahead?: readonly LeafKey<L>[]): L | undefined {
    const change = this.#changes.get(key.id);
    return change === undefined ? this.#below(key, ahead) : (change.after as L | undefined);
  }

  /** A miss while authors' code ran: that code may have caught it and continued without the leaf. */
  get missed(): Miss | undefined {
    return this.#missed;
  }

  /** Replaces a leaf; undefined removes it. */
  set<L>(key: LeafKey<L>, after: L | undefined): void {
    const change = this.#changes.get(key.id);
    if (change === undefined) this.#changes.set(key.id, { key: key as LeafKey, before: this.#below(key), after });
    else change.after = after;
  }

  list<K extends ListedKind>(kind: K): readonly KeyedLeaf<LeafOf[K]>[] {
    return [...this.#unchanged(this.base.list(kind)), ...this.#changed(kind)];
  }

  naming<K extends ListedKind>(kind: K, cell: Address): readonly KeyedLeaf<LeafOf[K]>[] {
    const changed = this.#changed(kind).filter(({ key, leaf }) =>
      namedIn(key, leaf).some((one) => one[0] === cell[0] && one[1] === cell[1]),
    );
    return [...this.#unchanged(this.base.naming(kind, cell)), ...changed];
  }

  #unchanged<L>(below: Iterable<KeyedLeaf<L>>): readonly KeyedLeaf<L>[] {
    return [...below].filter(({ key }) => !this.#changes.has(key.id));
  }

  #changed<K extends ListedKind>(kind: K): readonly KeyedLeaf<LeafOf[K]>[] {
    return [...this.#changes.values()].flatMap(({ key, after }) =>
      key.path[0] === kind && after !== undefined ? [{ key, leaf: after as LeafOf[K] }] : [],
    );
  }

  /** Writes a leaf that is known to be new: nothing has to be loaded to find that out. */
  add<L>(key: LeafKey<L>, after: L): void {
    const change = this.#changes.get(key.id);
    if (change === undefined) this.#changes.set(key.id, { key: key as LeafKey, before: undefined, after });
    else change.after = after;
  }

  #below<L>(key: LeafKey<L>, ahead: readonly LeafKey[] = []): L | undefined {
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
