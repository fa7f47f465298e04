/** Verifies a world from genesis: chain, shape, content, and, for each era whose app is at hand, every derivation. */
import { type IngressOf, type IngressRecord, type Ref, RepriseError, type Value } from '@reprise/contracts';
import { LINKS_PER_TURN } from '../../ports/content/bounds.js';
import type { ContentReader } from '../../ports/content/port.js';
import { EMPTY_HEAD, type Head } from '../../ports/journal/port.js';
import type { ReadonlyStore } from '../../ports/store/store.js';
import { macrotask } from '../../ports/time/turn.js';
import {
  requireApp,
  requireApps,
  requireDigest,
  requireFunction,
  requireObject,
  requireReadable,
} from '../../pure/arguments/arguments.js';
import { decode, linksOf, portableSha256 } from '../../pure/codec/index.js';
import { type App, pinsOf } from '../../pure/define/index.js';
import { ComputedNodes } from '../../run/state/value-nodes.js';
import { EraWalk, type VerifiedEra } from './era-walk.js';
import { pinsLacking } from './eras.js';
import { Erasures } from './erasures.js';
import { checkIndexes, checkLandmarks } from './indexes.js';
import type { Sandbox } from './sandbox.js';

/** Options of verification. */
export interface VerifyOptions {
  /** The pure code of the app. Without it only the chain, the records' shape, the receipts and the content are checked. */
  readonly app?: App;
  /** Earlier apps: each era is replayed by the app that has exactly its definitions. */
  readonly legacy?: readonly App[];
  /**
   * Replays eras with the code that the journal itself carries, before any app is tried. This runs code from the file;
   * without it no such code runs.
   */
  readonly code?: Sandbox;
  /** An acknowledged or published head digest: detects truncation and rollback, which a chain alone cannot show. */
  readonly expect?: string;
  /** Called now and then with the progress. */
  readonly onProgress?: (progress: { readonly frames: number; readonly of: number }) => void;
}

/** The result of verification. */
export interface VerifyReport {
  /** Frames whose derivations were replayed. */
  readonly replayed: number;
  /** Frames of which only the chain, the shape and the receipts were checked, since no given app has their definitions. */
  readonly unverified: number;
  /** The eras, in order. */
  readonly eras: readonly VerifiedEra[];
  readonly frames: number;
  readonly records: number;
  readonly blobs: number;
  /** Erased blobs that the journal's tombstones name. */
  readonly erased: number;
  /** Blobs that were erased and exist again: put since, or restored from a copy. */
  readonly returned: number;
  readonly head: Head;
}

const PROGRESS_EVERY = 10_000;

/**
 * Verifies a world. Needs no adapter, key or network, and writes nothing.
 *
 * @throws RepriseError the first defect, naming its place: `journal_damaged`, `replay_divergence`,
 *   `manifest_mismatch`, `semantics_unknown`, `blob_missing`, `blob_damaged`, `erase_unfinished`, `head_mismatch`;
 *   `code_mismatch`, `code_failed` for code that the journal carries; `invalid_argument` for an invalid store, app,
 *   sandbox or expected head
 * @example
 * const store = await sqlite('world.db').openReadonly()
 * const { replayed, unverified, head } = await verifyStore(store, { app, legacy: [lastYears], expect: publishedHead })
 */
export async function verifyStore(store: ReadonlyStore, options: VerifyOptions = {}): Promise<VerifyReport> {
  const apps = requireVerifiable(store, options);
  const hash = store.hash ?? portableSha256;
  const nodes = new ComputedNodes(store.content, hash);
  const carried = options.code && { sandbox: options.code, content: store.content };
  const eras = new EraWalk(apps, nodes, hash, carried);
  try {
    return await verifyWith(store, options, { apps, nodes, eras });
  } finally {
    await eras.close();
  }
}

interface Parts {
  readonly apps: readonly App[];
  readonly nodes: ComputedNodes;
  readonly eras: EraWalk;
}

async function verifyWith(store: ReadonlyStore, options: VerifyOptions, parts: Parts): Promise<VerifyReport> {
  const { apps, nodes, eras } = parts;
  const hash = store.hash ?? portableSha256;
  const walk = new ContentWalk(store.content);
  const of = (await store.journal.head()).seq + 1;
  const newest = new Map<string, number>();
  const erasures = new Erasures();
  let manifest: IngressOf<'manifest'> | undefined;
  let records = 0;
  let expected = options.expect === undefined || options.expect === EMPTY_HEAD.digest;
  for await (const stored of store.journal.read(0)) {
    const { all, made } = await eras.step(stored);
    const ingress = all[0] as IngressRecord;
    if (ingress.kind === 'manifest') manifest = ingress;
    await checkIndexes(store.journal, stored, ingress, hash);
    newest.set(stored.kind, stored.seq);
    erasures.take(ingress);
    if (stored.kind === 'snapshot') nodes.forget();
    records += all.length;
    expected ||= eras.head.digest === options.expect;
    if (mayLink(stored.bytes)) await walk.from(all as unknown as Value, `frame ${stored.seq}`);
    if (made.length > 0) await walk.from(made, `frame ${stored.seq}`);
    if (stored.seq % PROGRESS_EVERY === 0) options.onProgress?.({ frames: stored.seq, of });
  }
  const { head } = eras;
  if (head.seq < 0)
    throw new RepriseError('world_absent', 'the journal has no frame', {
      hint: 'Check that this is the file of a world.',
    });
  await checkLandmarks(store.journal, newest, head.seq);
  const replayed = framesOf(eras.eras, 'replayed');
  // An app that replays nothing is the wrong app; its eras must not just be called unverified.
  if (replayed === 0 && manifest !== undefined) for (const app of apps) requireDefinitions(manifest, app);
  if (!expected) throw headMismatch(options.expect as string, head);
  walk.requireAccounted(erasures.named);
  const { erased, returned } = await erasures.check(store.content);
  const blobs = await checkAllBlobs(store.content);
  const unverified = framesOf(eras.eras, 'unverified');
  const frames = head.seq + 1;
  return { replayed, unverified, eras: eras.eras, frames, records, blobs, erased, returned, head };
}

function requireVerifiable(store: ReadonlyStore, options: VerifyOptions): readonly App[] {
  requireReadable(store);
  requireObject(options, 'the options');
  const { app, legacy = [], code, expect, onProgress } = options;
  if (expect !== undefined) requireDigest(expect);
  if (onProgress !== undefined) requireFunction(onProgress, 'onProgress');
  if (code !== undefined) requireFunction((code as Partial<Sandbox> | null)?.load, 'code.load');
  requireApps(legacy);
  if (app === undefined) return legacy;
  requireApp(app);
  return [app, ...legacy];
}

function framesOf(eras: readonly VerifiedEra[], status: VerifiedEra['status']): number {
  return eras.filter((era) => era.status === status).reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/**
 * The pinned definitions that an app lacks or has with another digest.
 *
 * @returns their names; empty when the app can replay the era
 */
export function missingDefinitions(manifest: IngressOf<'manifest'>, app: App): string[] {
  return pinsLacking(manifest, pinsOf(app));
}

/** Refuses an app that cannot replay an era. */
function requireDefinitions(manifest: IngressOf<'manifest'>, app: App): void {
  const missing = missingDefinitions(manifest, app);
  if (missing.length === 0) return;
  throw new RepriseError('manifest_mismatch', 'the app lacks definitions that this journal was written with', {
    where: `frame ${manifest.seq}`,
    actual: missing.join(', '),
    hint: 'Load the app that wrote it. A changed schema needs a new version of its name.',
  });
}

function headMismatch(expected: string, head: Head): RepriseError {
  return new RepriseError('head_mismatch', 'no frame of this journal has the expected head', {
    expected: `sha256:${expected}`,
    actual: `sha256:${head.digest} at frame ${head.seq}`,
    hint: 'The journal was cut or rolled back, or it is another journal.',
  });
}

/** Follows links from frames through values to all content that they need, except erased content. */
class ContentWalk {
  readonly #seen = new Set<string>();
  /** Missing content, in the order of its mention: only the whole journal shows which of it a tombstone explains. */
  readonly #gone = new Map<string, { readonly ref: Ref; readonly where: string }>();

  constructor(private readonly content: ContentReader) {}

  async from(value: Value, where: string): Promise<void> {
    for (const ref of linksOf(value)) await this.#visit(ref, where);
  }

  /** @throws RepriseError `blob_missing` for the first missing content that no tombstone names */
  requireAccounted(erased: ReadonlySet<string>): void {
    for (const { ref, where } of this.#gone.values()) if (!erased.has(ref.hex)) throw missing(ref, where);
  }

  async #visit(first: Ref, where: string): Promise<void> {
    const open: Ref[] = [first];
    let read = 0;
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      const name = `${ref.kind === 'value' ? 'v' : 'r'}${ref.hex.slice(0, 24)}`;
      if (this.#seen.has(name)) continue;
      this.#seen.add(name);
      if (++read % LINKS_PER_TURN === 0) await macrotask();
      const links = ref.kind === 'value' ? await this.#linksOf(ref, where) : await this.#nothingOf(ref);
      if (links !== undefined) open.push(...links);
      else if (!this.#gone.has(ref.hex)) this.#gone.set(ref.hex, { ref, where });
    }
  }

  async #nothingOf(ref: Ref): Promise<readonly Ref[] | undefined> {
    return (await this.content.has(ref)) ? [] : undefined;
  }

  async #linksOf(ref: Ref, where: string): Promise<readonly Ref[] | undefined> {
    const bytes = await this.content.get(ref);
    if (bytes === undefined) return undefined;
    try {
      return linksOf(decode(bytes));
    } catch (error) {
      throw new RepriseError('blob_damaged', 'content that is linked as a value is not a value', {
        where: `${where}, ${ref}`,
        cause: error,
      });
    }
  }
}

function missing(ref: Ref, where: string): RepriseError {
  return new RepriseError('blob_missing', 'content that the journal links is not in the store', {
    where: `${where}, ${ref}`,
    hint: 'Restore the store from a copy that has it.',
  });
}

/** Whether encoded bytes can hold a link: each begins with tag 42. Most frames hold none and need no walk. */
function mayLink(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xd8); at >= 0; at = bytes.indexOf(0xd8, at + 1)) if (bytes[at + 1] === 0x2a) return true;
  return false;
}

/** Reads every stored blob once; a store checks the digest of what it reads. */
async function checkAllBlobs(content: ReadonlyStore['content']): Promise<number> {
  let blobs = 0;
  for await (const ref of content.list()) {
    const bytes = await content.get(ref);
    if (bytes === undefined) throw missing(ref, 'the content store');
    blobs++;
  }
  return blobs;
}
