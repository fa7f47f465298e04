/**
 * The inside of a sandbox: loads pure code and replays frames with it, in a realm that has nothing else.
 *
 * Invariants
 * R1  Only text and the function that holds the code come in; only text goes out. No object of the outside is in here.
 * R2  The realm is sealed before the code's first line runs.
 * R3  Replay depends only on the messages and on content that was requested by digest.
 */
import { fieldsOf, isRepriseError, lineOfError, type Ref, startOfText, wellFormed } from '@reprise/contracts';
import type { FrameInputs } from '../../ports/journal/frame.js';
import { decode, encode, FRAME_DEPTH_MAX, type Hash, portableSha256 } from '../../pure/codec/index.js';
import { type App, pinsOf } from '../../pure/define/index.js';
import { purity, type RunningPlans } from '../../pure/engine/index.js';
import { LeafTable } from '../../state/leaf-table.js';
import { MerkleMap } from '../../state/map/index.js';
import { ComputedNodes } from '../../state/value-nodes.js';
import { refusalWords, replayFrame } from '../verify/index.js';
import { bytesOfText, type FromSandbox, type ToSandbox, textOfBytes } from './messages.js';
import { missedNames, sealRealm, whileLoading } from './seal.js';
import { giveModules, prepareModules } from './supplied.js';

/** The body of the code, as a function of the CommonJS module variables. */
export type CodeBody = (module: { exports: unknown }, exports: unknown, require: (name: unknown) => object) => void;

/** The only entry to a sandbox. */
export interface Room {
  /** Seals the realm and runs the code. The result is a message. */
  load(body: CodeBody): void;
  /** Reports that there is no code to run, and why. */
  refuse(what: string): void;
  /** Sends the sandbox a message, as text. */
  tell(text: string): void;
  /** Takes the messages sent since the last call, as text. Empty without any. */
  take(): string;
}

/** Makes the inside of a sandbox; once in a realm. */
export function makeRoom(): Room {
  prepareModules();
  const room = new Inside();
  return {
    load: (body) => room.load(body),
    refuse: (what) => room.say({ say: 'failed', what }),
    tell: (text) => void room.tell(text),
    take: () => room.take(),
  };
}

class Inside {
  #said: FromSandbox[] = [];
  #app: App | undefined;
  #table!: LeafTable;
  #nodes!: ComputedNodes;
  readonly #plans: RunningPlans = new WeakMap();
  readonly #hash: Hash = portableSha256;
  readonly #needs = new Map<string, ((bytes: Uint8Array | undefined) => void)[]>();
  #touched: string[] = [];

  say(message: FromSandbox): void {
    this.#said.push(message);
  }

  take(): string {
    if (this.#said.length === 0) return '';
    const said = this.#said;
    this.#said = [];
    return textOfBytes(encode(said));
  }

  load(body: CodeBody): void {
    sealRealm(); // R2
    const give = giveModules();
    const module = { exports: {} as unknown };
    try {
      whileLoading(() => body(module, module.exports, give));
      if (purity.violation !== null) throw new Error(`it touched ${purity.violation}`);
      this.#app = appIn(module.exports);
      this.say({ say: 'loaded', ...pinsOf(this.#app) });
    } catch (thrown) {
      this.say({ say: 'failed', what: `the code cannot be loaded: ${wordsOf(thrown)}${missing()}` });
    }
    purity.violation = null;
  }

  async tell(text: string): Promise<void> {
    try {
      await this.#obey(decode(bytesOfText(text)) as unknown as ToSandbox);
    } catch (thrown) {
      this.say({ say: 'failed', what: wordsOf(thrown) });
    }
  }

  async #obey(message: ToSandbox): Promise<void> {
    switch (message.tell) {
      case 'begin':
        return this.#begin(message.root);
      case 'replay':
        return this.#replay(decode(message.inputs, FRAME_DEPTH_MAX) as unknown as FrameInputs, message.fromBytes);
      case 'content':
        for (const answer of this.#needs.get(message.ref.hex) ?? []) answer(message.bytes ?? undefined);
        this.#needs.delete(message.ref.hex);
        return;
      default:
        return message satisfies never;
    }
  }

  async #begin(root: Ref | null): Promise<void> {
    this.#nodes = new ComputedNodes({ get: (ref) => this.#fetch(ref) }, this.#hash);
    this.#table = new LeafTable(new MerkleMap(this.#nodes, this.#hash));
    if (root !== null) await this.#table.openAt(root);
    this.say({ say: 'begun' });
  }

  // R3
  #fetch(ref: Ref): Promise<Uint8Array | undefined> {
    return new Promise((settle) => {
      const waiting = this.#needs.get(ref.hex);
      this.#needs.set(ref.hex, [...(waiting ?? []), settle]);
      if (waiting === undefined) this.say({ say: 'need', ref });
    });
  }

  async #replay(inputs: FrameInputs, fromBytes: boolean): Promise<void> {
    const { ingress } = inputs;
    if (this.#app === undefined) throw new Error('no code was loaded');
    this.#touched = [];
    purity.heard = (name) => void this.#touched.push(name);
    try {
      const env = { app: this.#app, hash: this.#hash, plans: this.#plans };
      const { bytes, staged, changes } = await replayFrame(env, this.#table, inputs, fromBytes);
      const map = ingress.kind === 'snapshot' ? await this.#table.snapshot() : null;
      this.#table.apply(changes);
      if (map !== null) this.#rebase(map.ref);
      const made = staged.map(({ ref }) => ref);
      this.say({ say: 'replayed', bytes, made, map, touched: [...new Set(this.#touched)] });
    } catch (thrown) {
      if (isRepriseError(thrown)) throw thrown;
      this.say({ say: 'refused', words: refusalWords(thrown) });
    }
  }

  /** Computed nodes are stored by the other side, or the frame is found to differ: either way they are dropped here. */
  #rebase(root: Ref): void {
    this.#table.rebase(root);
    this.#nodes.forget();
  }
}

/** By shape: bundlers wrap what modules export in many ways. */
function appIn(exports: unknown): App {
  const { app, default: inner } = fieldsOf(exports);
  const found = [app, inner, fieldsOf(inner).app, fieldsOf(inner).default, exports].find(isApp);
  if (found === undefined) throw new Error('the module exports no app, neither as default nor as app');
  return found;
}

function isApp(thing: unknown): thing is App {
  const { reducers, plans, effects } = fieldsOf(thing);
  return [reducers, plans, effects].every((part) => part instanceof Map);
}

function missing(): string {
  const names = missedNames();
  return names.length === 0 ? '' : `; it looked for ${names.join(', ')}`;
}

/** Describes anything that was thrown, in a text that fits a message. */
function wordsOf(thrown: unknown): string {
  return wellFormed(startOfText(lineOfError(thrown), 1_000));
}
