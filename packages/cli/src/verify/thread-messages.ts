/** The messages between the verification and its threads. */
import type { RangeResult, RangeTask, SharedBlobs, Told } from '@reprise/kernel';

/** What every thread opens and loads by itself. */
export interface ThreadTask {
  /** The world as the user named it; in the thread, its absolute path, or its address with the password. */
  readonly world: string;
  /** The module of the app; without one the built-in app is used if it fits. */
  readonly app?: string;
  /** The modules of earlier apps. */
  readonly legacy: readonly string[];
  /** Whether the code that manifests link may be run. */
  readonly pureCode: boolean;
  /** Whether every frame is folded from bytes. */
  readonly thorough: boolean;
}

/** A task for a thread, which gets the next one after the result; or the request to end, which it can get at any time. */
export type ToThread =
  | { readonly ask: 'end' }
  | { readonly ask: 'verify'; readonly task: RangeTask }
  | { readonly ask: 'read'; readonly share: { readonly part: number; readonly of: number } };

/** A message from a thread. */
export type FromThread =
  | { readonly say: 'ready' }
  | { readonly say: 'told'; readonly told: Told }
  | { readonly say: 'verified'; readonly result: RangeResult }
  | { readonly say: 'read'; readonly result: SharedBlobs };
