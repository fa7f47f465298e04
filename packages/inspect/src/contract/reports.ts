/**
 * The JSON that the page asks its server for: reports of `reprise/operators`, and what only a page shows. The page imports
 * these types and nothing else of this package.
 */
import type { AttemptRow, Owner, Unfinished, WaitingItem } from '@reprise/operators';
import type { FrameTime, WorldParts } from '@reprise/operators/sessions';

/**
 * Reports that are those of the commands: `GET /api/waiting?at&limit&after`, `/api/cost?by&from&to&at&limit&after` (`by` is
 * a list with commas), `/api/diff?a&b&cell&limit&after`, `/api/rights?holder&at`, `/api/society?at`, `/api/trust?at&limit&after`,
 * `/api/memory?item&at&limit&after` (`item` is a store or an item of it), `/api/readers?item&at&limit&after`, `/api/prompt?call&as`
 * (`call` is `last`, a place, or at least 8 digits of the effect; `as=sent` asks for the body too).
 */
export type {
  CostReport,
  DiffReport,
  MemoryReport,
  ReadersReport,
  RequestReport,
  RightsReport,
  SocietyReport,
  TrustReport,
  WaitingReport,
} from '@reprise/operators';
/** `GET /api/sessions?at`: who is there. */
export type { FrameTime, SessionRow, SessionsReport } from '@reprise/operators/sessions';

/** `GET /api/world`: what the file is, and how far it goes. */
export interface WorldReport {
  /** The path as the user named it. */
  readonly path: string;
  /** The id of the world. */
  readonly world: string;
  readonly first: FrameTime;
  readonly last: FrameTime;
  /** The hash of the last frame, in hexadecimal. */
  readonly head: string;
  /** Whether a process has it open. */
  readonly process: 'open' | 'closed' | 'died' | 'unknown';
  /** The parts of the world, by name, the oldest first. */
  readonly parts: WorldParts;
}

/** What a session said last. */
export interface LastWords {
  readonly of: Owner;
  readonly place: string;
  readonly at: number;
  readonly words: string;
}

/** `GET /api/now?at`: the first screen. */
export interface NowReport {
  readonly frame: number;
  readonly at: number | null;
  /** The first things that wait, and how many there are. */
  readonly waiting: readonly WaitingItem[];
  readonly waiting_total: number;
  readonly unfinished: readonly Unfinished[];
  readonly last_words: readonly LastWords[];
  /** The first things that may have run twice or failed, and how many there are. */
  readonly trouble: readonly TroubleRow[];
  readonly trouble_total: number;
}

/** Something that went wrong: an effect that may have run twice, a cell that failed, a service that does not answer. */
export interface TroubleRow {
  readonly kind: AttemptRow['kind'] | 'cell' | 'service';
  readonly of: Owner | null;
  /** In words, with what to do where there is something. */
  readonly what: string;
  readonly place: FrameTime | null;
  /** The effect, to link to. */
  readonly effect: string | null;
}

/** `GET /api/trouble?at&all&limit&after`: `all=1` reads the whole journal for what may have run twice. */
export interface TroubleReport {
  readonly frame: number;
  /** The first frame whose attempts count: the one behind the newest snapshot, or 0 with `all`. */
  readonly from: number;
  readonly rows: readonly TroubleRow[];
  readonly next: string | null;
}

/** `GET /api/story?session&at&before&limit`: the last entries up to `at`, the oldest first. */
export type { StoryEntry, StoryReport } from '@reprise/operators';

/**
 * `GET /api/strip?buckets`: activity along the slider, in equal stretches of frames; the last one may be shorter. `buckets` is
 * the most there are, 400 when absent.
 */
export interface StripReport {
  readonly frame: number;
  readonly buckets: readonly {
    readonly from: number;
    readonly to: number;
    /** When its first frame was recorded. */
    readonly at: number;
    /** The bytes of its frames; of a stretch of more than 16 frames about, by its first ones. */
    readonly bytes: number;
  }[];
}

/** `GET /api/cells?at&prefix&limit&after`: the addresses of the cells. */
export interface CellsReport {
  readonly frame: number;
  readonly cells: readonly string[];
  readonly next: string | null;
}

/** `GET /api/state?cell&at`: the state of a cell after a frame, as JSON with links and bytes as the command prints them. */
export interface StateReport {
  readonly frame: number;
  readonly cell: string;
  readonly state: unknown;
  /** The hash that the replay ended with, in hexadecimal. */
  readonly head: string;
  /** Whether the head that was replayed is the recorded one. */
  readonly replayed: boolean;
}

/** A node in a chart of a tree. */
export interface TreeNodeRow {
  readonly n: number;
  readonly parent: number | null;
  readonly goal: string;
  readonly mark: string;
  /** In words: `at work`, `complete`, `failed`. */
  readonly state: string;
  readonly agent: string | null;
  readonly session: string | null;
  readonly blocked_by: readonly number[];
  readonly tokens: number;
  readonly micro_money: number;
  readonly budget: number | null;
  readonly made: FrameTime;
  readonly changed: FrameTime;
  /** Why it failed or was stopped, and who ended it, in words. */
  readonly why: string | null;
  /** The first line of its result. */
  readonly result: string | null;
}

/** `GET /api/tree?name&at`: the chart of a tree. */
export interface TreeReport {
  readonly frame: number;
  readonly name: string;
  readonly mark: string;
  readonly state: string;
  readonly goal: string;
  readonly nodes: readonly TreeNodeRow[];
  readonly asks: readonly { readonly n: number; readonly asker: number; readonly question: string }[];
}

/** A task of a project. */
export interface TaskRow {
  readonly task: number;
  readonly title: string;
  readonly specialist: string | null;
  readonly state: string;
  readonly attempt: number;
  readonly needs: readonly number[];
  readonly session: string | null;
  readonly result: string | null;
}

/** `GET /api/team?project&at`: the tasks of a project. */
export interface TeamReport {
  readonly frame: number;
  readonly project: string;
  readonly state: string;
  readonly waits: readonly string[];
  readonly tasks: readonly TaskRow[];
}

/** `GET /api/records?from&limit`: raw records, frame by frame; without `from` the last ones. */
export interface RecordsReport {
  readonly frame: number;
  readonly frames: readonly {
    readonly seq: number;
    readonly at: number;
    readonly head: string;
    readonly bytes: number;
    /** One line for each record, as `reprise tail` prints it. */
    readonly records: readonly string[];
  }[];
  readonly next: number | null;
}

/** `GET /api/record?frame&i`: one record as JSON, as `reprise show` prints it. */
export interface RecordReport {
  readonly frame: number;
  readonly i: number;
  readonly record: unknown;
}

/**
 * `GET /api/blob?digest&from&as`: content as text, as the JSON of a value, or in hexadecimal where it is neither. Without
 * `as` its bytes decide; a short word may be a value by chance, so a link that is known to lead to a value says `as=value`.
 * `from` counts bytes of what is shown: of the text, of the JSON, of the content.
 */
export interface BlobReport {
  readonly digest: string;
  readonly bytes: number;
  readonly kind: 'text' | 'value' | 'bytes' | 'erased';
  readonly text: string;
  /** The offset to ask for as `from`; null at the end. */
  readonly next: number | null;
}

/** `GET /api/search?q&at`: where some words lead. */
export interface SearchReport {
  readonly hits: readonly {
    /** The screen that shows it: a path of the page with its parameters. */
    readonly to: string;
    readonly what: string;
    readonly place: FrameTime | null;
  }[];
}

/** One message of `GET /api/follow`, as a server-sent event. */
export type FollowMessage =
  | { readonly type: 'head'; readonly frame: number; readonly at: number; readonly head: string }
  | { readonly type: 'process'; readonly process: WorldReport['process']; readonly silent_ms: number };

/** One message of `POST /api/verify`, a line of JSON each. */
export type VerifyMessage =
  | { readonly type: 'progress'; readonly frame: number; readonly of: number }
  | { readonly type: 'done'; readonly frame: number; readonly head: string }
  | { readonly type: 'failed'; readonly error: ErrorReport };

/** The body of every answer that is an error. */
export interface ErrorReport {
  /** A code of the closed list of errors. */
  readonly code: string;
  readonly message: string;
  readonly where?: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly hint?: string;
}
